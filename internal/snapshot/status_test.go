package snapshot

import (
	"reflect"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

var (
	hash0 = gittest.Hash("0")
	hash1 = gittest.Hash("1")
	hash2 = gittest.Hash("2")
	// Those of no object format.
	other1 = hash1 + "1"
	other2 = hash2[1:]
)

func TestParseStatus(t *testing.T) {
	t.Parallel()
	file := object.Entry{Mode: filemode.Regular, Hash: object.NewHash(hash2)}
	link := object.Entry{Mode: filemode.Submodule, Hash: object.NewHash(hash2)}
	for _, tt := range []struct {
		line string
		want entry
	}{
		{"1 .M N... 100644 100644 100755 " + hash1 + " " + hash2 + " a b\nc", entry{path: "a b\nc", staged: file, work: true, mode: filemode.Executable}},
		{"1 M. N... 100644 100644 100644 " + hash1 + " " + hash2 + " a", entry{path: "a", staged: file, mode: filemode.Regular}},
		{"1 D. N... 100644 000000 000000 " + hash1 + " " + hash0 + " a", entry{path: "a"}},
		{"1 AD N... 000000 100644 000000 " + hash0 + " " + hash2 + " a", entry{path: "a", staged: file, work: true, gone: true}},
		{"1 .A N... 000000 000000 100644 " + hash0 + " " + hash0 + " a", entry{path: "a", work: true, mode: filemode.Regular}},
		{"1 .T N... 100644 100644 120000 " + hash1 + " " + hash2 + " a", entry{path: "a", staged: file, work: true, mode: filemode.Symlink}},
		{"1 .M SC.. 160000 160000 160000 " + hash1 + " " + hash2 + " s", entry{path: "s", staged: link, work: true, mode: filemode.Submodule}},
		{"1 .M S.M. 160000 160000 160000 " + hash1 + " " + hash2 + " s", entry{path: "s", staged: link, dirty: true, mode: filemode.Submodule}},
		{"1 .M SCMU 160000 160000 160000 " + hash1 + " " + hash2 + " s", entry{path: "s", staged: link, work: true, dirty: true, mode: filemode.Submodule}},
		{"1 .D S... 160000 160000 000000 " + hash1 + " " + hash2 + " s", entry{path: "s", staged: link, work: true, gone: true}},
		{"u UU N... 100644 100644 100644 100755 " + hash1 + " " + hash2 + " " + hash1 + " a", entry{path: "a", conflict: true, staged: file, work: true, mode: filemode.Executable}},
		{"u DU N... 100644 000000 100644 000000 " + hash1 + " " + hash0 + " " + hash1 + " a", entry{path: "a", conflict: true, work: true, gone: true}},
		{"? x y", entry{path: "x y", untracked: true, work: true}},
	} {
		_, got, err := parseStatus("# branch.oid " + hash1 + "\x00" + tt.line + "\x00")
		if err != nil || len(got) != 1 || !reflect.DeepEqual(got[0], tt.want) {
			t.Errorf("%q is %+v, %v; want %+v", tt.line, got, err, tt.want)
		}
	}
	for _, tt := range []struct {
		header string
		want   git.Head
	}{
		{"# branch.oid (initial)\x00# branch.head main\x00", git.Head{Branch: "refs/heads/main"}},
		{"# branch.oid " + hash1 + "\x00# branch.head (detached)\x00", git.Head{Commit: object.NewHash(hash1)}},
		{"# branch.oid " + hash1 + "\x00# branch.head a/b\x00# stash 3\x00", git.Head{Commit: object.NewHash(hash1), Branch: "refs/heads/a/b"}},
	} {
		got, entries, err := parseStatus(tt.header)
		if err != nil || got != tt.want || len(entries) != 0 {
			t.Errorf("%q is %+v, %v, %v; want %+v", tt.header, got, entries, err, tt.want)
		}
	}
	for _, line := range []string{
		"1 .M N... 100644", "1 .M N... 100644 x 100644 " + hash1 + " " + hash2 + " a", "1 .M N... 100644 100644 100644 " + hash1 + " 2222 a",
		"1 M N... 100644 100644 100644 " + hash1 + " " + hash2 + " a", "1 .M N 100644 100644 100644 " + hash1 + " " + hash2 + " a",
		"2 R. N... 100644 100644 100644 " + hash1 + " " + hash2 + " R100 a", "u UU N...", "x", "", "# branch.oid 1234", "# branch.oid " + other1,
		"1 .M N... 100644 100644 100644 " + other1 + " " + other2 + " a",
	} {
		if _, got, err := parseStatus(line + "\x00"); err == nil {
			t.Errorf("%q is %+v, want an error", line, got)
		}
	}
	if _, _, err := parseStatus("? not terminated"); err == nil {
		t.Error("half a record is no error")
	}
}

func FuzzParseStatus(f *testing.F) {
	f.Add("# branch.oid " + hash1 + "\x00# branch.head main\x00")
	f.Add("1 .M N... 100644 100644 100755 " + hash1 + " " + hash2 + " a b\x00? c\x00")
	f.Add("u UU N... 100644 100644 100644 100755 " + hash1 + " " + hash2 + " " + hash1 + " a\x00")
	f.Fuzz(func(t *testing.T, out string) {
		_, entries, err := parseStatus(out)
		if err != nil {
			return
		}
		for _, e := range entries {
			if !strings.Contains(out, e.path) {
				t.Errorf("path %q is not in %q", e.path, out)
			}
			if e.gone && !e.work {
				t.Errorf("%+v is gone but not to be looked at", e)
			}
		}
	})
}
