package lint

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// TestForeignWords looks for what belongs to one machine, and not into a repository:
// directories of whoever wrote or recorded something, and hosts of package registries.
func TestForeignWords(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	files := 0
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		name := strings.TrimPrefix(filepath.ToSlash(path), top+"/")
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == ".git" || name == "bin" || name == "dist"):
			return filepath.SkipDir
		case !d.Type().IsRegular() || name == ".git" || name == "test/lint/words_test.go":
			return nil
		}
		files++
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for i, line := range bytes.Split(content, []byte("\n")) {
			if found := foreign.Find(systems.ReplaceAll(line, nil)); found != nil {
				t.Errorf("%s:%d has %q", name, i+1, found)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 50 {
		t.Errorf("read only %d files", files)
	}
}

// foreign is what a line must not have.
var foreign = regexp.MustCompile(`\.\./shared\b` +
	`|(^|[^A-Za-z0-9_.$})*/<-])/(work|root|tmp)(/|\b)` +
	`|/Users/[a-z]` +
	`|/home/([a-ce-z]|d[a-df-z]|de[a-uw-z]|dev[A-Za-z0-9])` +
	`|(registry\.)npmjs|(proxy|sum)\.(golang)|(deb\.)debian|(archive\.)ubuntu`)

// systems is the directories for temporary files that every system has, in a list.
var systems = regexp.MustCompile(`/tmp"? ?, "?/var/tmp\b`)

func TestForeign(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"see ../shared/DESIGN.md": true,
		// Assembled: this file is read, too, here and by others.
		"cd /" + "work/main":               true,
		`"/` + `root/.claude"`:             true,
		"TMPDIR=/tmp":                      true,
		"cd /tmp":                          true,
		"/tmp, /var/tmp/x, /tmp/y":         true,
		`"/tmp", "/var/tmp"`:               false,
		"/home/alice/x":                    true,
		"/home/developer":                  true,
		"/Users/alice":                     true,
		"https://registry." + "npmjs.org/": true,
		"/home/dev/project":                false,
		"/home/dev":                        false,
		"$HOME/tmp/x":                      false,
		"refs/root":                        false,
		"network/tmpfs":                    false,
		"the root package":                 false,
		"DESTDIR=package ./install.sh":     false,
		"shared/DESIGN.md":                 false,
		"https://example.invalid/work.git": false,
	} {
		if got := foreign.MatchString(systems.ReplaceAllString(line, "")); got != want {
			t.Errorf("%q is foreign: %t, want %t", line, got, want)
		}
	}
}
