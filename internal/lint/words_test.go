package lint

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestForeignWords looks for what belongs to one machine, and not into a repository:
// directories of whoever wrote or recorded something, and hosts of package registries.
func TestForeignWords(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = top
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	names := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if len(names) < 50 {
		t.Fatalf("git ls-files names %d files", len(names))
	}
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(top, name))
		if os.IsNotExist(err) {
			continue // deleted, not yet staged
		}
		if err != nil {
			t.Fatal(err)
		}
		if name == "internal/lint/words_test.go" {
			continue
		}
		for i, line := range bytes.Split(content, []byte("\n")) {
			if found := foreign.Find(line); found != nil {
				t.Errorf("%s:%d has %q", name, i+1, found)
			}
		}
	}
}

// foreign is what a line must not have.
var foreign = regexp.MustCompile(`\.\./shared\b` +
	`|(^|[^A-Za-z0-9_.$})*-])/(work|root|tmp)(/|\b)` +
	`|/Users/[a-z]` +
	`|/home/([a-ce-z]|d[a-df-z]|de[a-uw-z]|dev[A-Za-z0-9])` +
	`|registry\.npmjs|proxy\.golang|sum\.golang|deb\.debian|archive\.ubuntu`)

func TestForeign(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"see ../shared/DESIGN.md":          true,
		"cd /work/main":                    true,
		`"/root/.claude"`:                  true,
		"file:///tmp/x":                    true,
		"cd /tmp":                          true,
		"/home/alice/x":                    true,
		"/home/developer":                  true,
		"/Users/alice":                     true,
		"https://registry.npmjs.org/":      true,
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
		if got := foreign.MatchString(line); got != want {
			t.Errorf("%q is foreign: %t, want %t", line, got, want)
		}
	}
}
