package git

import (
	"errors"
	"testing"

	"gitagent/test/gittest"
)

func TestObjectFormat(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ config, want string }{
		{"", "sha1"},
		{"[core]\n\tbare = false\n", "sha1"},
		{"[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n", "sha256"},
		{"[extensions]\n\tobjectformat = sha1\n", "sha1"},
		{"[Extensions] ObjectFormat=\"sha256\" # so\n", "sha256"},
		{"[ extensions ]\r\n\tobjectFormat = sha256 ; so\r\n", "sha256"},
		{"[extensions]\nobjectformat = sha1\nobjectformat = sha256\n", "sha256"},
		{"[extensions]\nobjectformat = sha256\n[core]\n[extensions]\nnoop = true\n", "sha256"},
		{"[extensions \"x\"]\nobjectformat = sha256\n", "sha1"},
		{"[x]\nobjectformat = sha256\n", "sha1"},
		{"[extensions]\n# objectformat = sha256\n", "sha1"},
		{"[extensions]\nobjectformat\n[core]\n", ""},
		{"[extensions]\nobjectformat = sha512\n", "sha512"},
		{"[core\nobjectformat = sha256", "sha1"},
	} {
		if got := objectFormat([]byte(tt.config)); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.config, got, tt.want)
		}
	}
}

// TestFormat: git says the same of what it has made.
func TestFormat(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		r := gittest.New(t, "--object-format="+format)
		if got := find(t, r).Format(); got != format {
			t.Errorf("%s: %q", format, got)
		}
		for _, dir := range []string{r.Dir, r.Dir + "/.git", r.Dir + "/.git/objects"} {
			if got := FormatIn(dir); got != format {
				t.Errorf("%s in %s: %q", format, dir, got)
			}
		}
	}
	if got := FormatIn(gittest.TempDir(t)); got != ObjectFormat {
		t.Errorf("in none: %q", got)
	}
}

func TestSupported(t *testing.T) {
	t.Parallel()
	own := "extensions.objectformat\n" + ObjectFormat + "\x00"
	for list, supported := range map[string]bool{
		"":  ObjectFormat == "sha1",
		own: true,
		own + "extensions.worktreeconfig\ntrue\x00extensions.partialclone\norigin\x00extensions.refstorage\nreftable\x00": true,
		"extensions.objectformat\n" + gittest.OtherFormat + "\x00":                                                        false,
		own + "core.repositoryformatversion\n1\x00extensions.unheardof\ntrue\x00":                                         false,
		own + "extensions.compatobjectformat\nsha1\x00":                                                                   false,
	} {
		if err := parseConfig(list).Supported(); (err == nil) != supported || err != nil && !errors.Is(err, ErrFormat) {
			t.Errorf("%q: %v", list, err)
		}
	}
}
