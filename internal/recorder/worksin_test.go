package recorder

import (
	"strings"
	"testing"
)

// TestWorksIn: which commands may work in the worktree /r/w1, in which /r/w1/in is another.
func TestWorksIn(t *testing.T) {
	for command, want := range map[string]bool{
		"cd /r/w1 && make":                  true,
		"make -C/r/w1":                      true,
		`sh -c 'echo >/r/w1/f'`:             true,
		"cd ../w1/sub; make":                true,
		"git worktree add -q -b b w1":       true,
		"make w1":                           true,
		"make":                              false,
		"cat /r/w10/f >f":                   false,
		"cp /other/w1/f .":                  false,
		"git worktree remove w1":            false,
		"cd .. && git worktree remove w1":   false,
		"git -C /r worktree remove /r/w1":   false,
		"git worktree remove w2; make w1":   true,
		"make || git worktree remove ../w1": false,
		"cd /r/w1/in && make":               false,
		"cd '/r/w1/in'; cd ../w1/in":        false,
		"cd ../w1/in && cd .. && make w1":   true,
	} {
		if worksIn(command, "/r/w1", func(path string) bool { return strings.HasSuffix(path, "w1/in") }) != want {
			t.Errorf("worksIn(%q) = %t", command, !want)
		}
	}
}
