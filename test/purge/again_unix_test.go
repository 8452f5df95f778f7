//go:build unix

package purge

import (
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// TestGoesOn: a turn that goes on when it was purged says nothing of it again.
func TestGoesOn(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	w := newEmpty(t)
	c := w.client(w.Dir, whole)
	c.Prompt("never mind the raccoon")
	w.Write("work", "one\n")
	c.Block("it was a raccoon", "go on")
	if status, out := w.run("", "git-agent-turn", "purge", "--turn", whole+"/1", "--yes"); status != 0 {
		t.Fatalf("exit status %d\n%s", status, out)
	}
	w.Write("work", "two\n")
	c.StopAgain("now it is a squirrel")
	c.Prompt("next")
	c.Stop("done")
	if out := w.must("git-agent-turn", "list", "--mission", whole); strings.Count(out, "\n") != 2 {
		t.Errorf("the turns are\n%s", out)
	}
	if out := w.must("git-agent-turn", "show", "--conversation", whole+"/1"); !strings.Contains(out, "squirrel") {
		t.Errorf("what was said since is lost:\n%s", out)
	}
	for _, name := range strings.Fields(w.Git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)")) {
		text := w.Git("cat-file", "-p", name)
		for _, said := range []string{"it was a raccoon", `"content":"never mind`, `"prompt":"never mind`} {
			if strings.Contains(text, said) {
				t.Errorf("what was purged is recorded again: %s", text)
			}
		}
	}
}
