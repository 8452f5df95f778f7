package git

import (
	"errors"
	"testing"

	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

func TestObjectFormat(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ config, want string }{
		{"", ""},
		{"[core]\n\tbare = false\n", ""},
		{"[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n", "sha256"},
		{"[extensions]\n\tobjectformat = sha1\n", "sha1"},
		{"[Extensions] ObjectFormat=\"sha256\" # so\n", "sha256"},
		{"[ extensions ]\r\n\tobjectFormat = sha256 ; so\r\n", "sha256"},
		{"[extensions]\nobjectformat = sha1\nobjectformat = sha256\n", "sha256"},
		{"[extensions]\nobjectformat = sha256\n[core]\n[extensions]\nnoop = true\n", "sha256"},
		{"[extensions \"x\"]\nobjectformat = sha256\n", ""},
		{"[x]\nobjectformat = sha256\n", ""},
		{"[extensions]\n# objectformat = sha256\n", ""},
		{"[extensions]\nobjectformat\n[core]\n", ""},
		{"[extensions]\nobjectformat = sha512\n", "sha512"},
		{"[core\nobjectformat = sha256", ""},
	} {
		if got := extension([]byte(tt.config), "objectformat"); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.config, got, tt.want)
		}
	}
}

// TestFormat: git says the same of what it has made.
func TestFormat(t *testing.T) {
	t.Parallel()
	for _, format := range []object.Format{object.SHA1, object.SHA256} {
		r := gittest.New(t, "--object-format="+format.String())
		if got := find(t, r).Format(); got != format {
			t.Errorf("%s: %s", format, got)
		}
	}
}

func TestSupported(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"", "extensions.objectformat\nsha1\x00", "extensions.objectformat\nsha256\x00"} {
		for list, supported := range map[string]bool{
			"": true,
			"extensions.worktreeconfig\ntrue\x00extensions.partialclone\norigin\x00extensions.refstorage\nreftable\x00": true,
			"extensions.objectformat\nsha512\x00":                               false,
			"core.repositoryformatversion\n1\x00extensions.unheardof\ntrue\x00": false,
			"extensions.compatobjectformat\nsha1\x00":                           false,
		} {
			if err := parseConfig(format + list).Supported(); (err == nil) != supported || err != nil && !errors.Is(err, ErrFormat) {
				t.Errorf("%q: %v", format+list, err)
			}
		}
	}
}
