package turns_test

import (
	"strings"
	"testing"

	"gitagent/internal/git"
	"gitagent/test/gittest"
)

// TestBeforeTurn: what changed between two turns is a commit of its own, so that a turn's diff is
// the agent's work alone.
func TestBeforeTurn(t *testing.T) {
	t.Parallel()
	for _, attached := range []bool{false, true} {
		name := "passive"
		if attached {
			name = "attached"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if attached {
				gittest.Check(t)
			}
			l := newLab(t)
			c := l.client()
			id := own(c)
			if attached {
				id = l.start()
			}
			a := l.turn(c, "one", l.write("one.txt", "1\n"))
			l.Write("users.txt", "the user's\n")
			b := l.turn(c, "two", l.write("two.txt", "2\n"))
			l.Write("again.txt", "the user's\n")
			d := l.turn(c, "three", nil)
			list := l.check(id, a, b, d)
			if list[1].Files != 1 || list[1].Paths[0] != "two.txt" || list[2].Files != 0 {
				t.Errorf("the turns claim what the user did:\n%s", describe(list))
			}
			for i, n := range map[int]string{1: "2", 2: "3"} {
				if got := l.Git("log", "-1", "--format=%s", list[i].Base.String()); got != "before turn "+n {
					t.Errorf("the base of turn %s is %q", n, got)
				}
			}
			if n := l.Git("rev-list", "--count", "--first-parent", id.Ref()); n != "6" && !attached {
				t.Errorf("the ledger has %s commits, want 6: mission, 3 turns, 2 states before a turn", n)
			}
			l.fsck()
		})
	}
}

// TestFirstPromptInDirtyWorktree: what the user had not committed when the mission began is not the
// agent's.
func TestFirstPromptInDirtyWorktree(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLab(t)
	l.Write("users.txt", "the user's\n")
	l.Write("kept.txt", "changed\n")
	c := l.client()
	list := l.check(own(c), l.turn(c, "one", l.write("one.txt", "1\n")), l.turn(c, "two", nil))
	if list[0].Files != 1 || list[1].Files != 0 || list[1].Code != list[1].Base {
		t.Errorf("the turns claim what the user did:\n%s", describe(list))
	}
}

// TestWithoutPrompt: an end of which the beginning was not seen. The base is what this session
// recorded last, else HEAD.
func TestWithoutPrompt(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c := l.client()
	record := c.Hook
	turn := func(prompt string, work func()) want {
		c.Hook = nil
		c.Prompt(prompt)
		c.Hook = record
		work()
		c.Stop("did " + prompt)
		return want{prompt: prompt, reply: "did " + prompt, tree: l.tree()}
	}
	l.Write("users.txt", "the user's\n")
	list := l.check(own(c), turn("one", l.write("one.txt", "1\n")), turn("two", l.write("two.txt", "2\n")))
	if list[0].Base.String() != l.Git("rev-parse", "HEAD") {
		t.Errorf("the base of turn 1 is %s, want HEAD", list[0].Base)
	}
	if list[1].Base != list[0].Code {
		t.Errorf("the base of turn 2 is %s, want the code commit of turn 1", list[1].Base)
	}
}

var emptyTree = git.NewHash(gittest.Hash("1")).Format().EmptyTree().String()

// TestParents: a code commit has exactly one parent: the start if HEAD has not moved since,
// otherwise HEAD.
func TestParents(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLab(t)
	first := l.Git("rev-parse", "HEAD")
	c := l.client()
	l.turn(c, "one", l.write("one.txt", "1\n"))
	l.turn(c, "two", l.write("two.txt", "2\n"))
	l.turn(c, "three", nil)
	l.turn(c, "four", func() { l.Git("commit", "-q", "--allow-empty", "-m", "the agent's"); l.Write("four.txt", "4\n") })
	l.turn(c, "five", func() { l.Commit("the agent's, all of it") })
	l.turn(c, "six", func() { l.Git("rm", "-q", "-f", "one.txt"); l.Git("commit", "-q", "-m", "clean") })
	l.turn(c, "undone", func() { l.Git("reset", "-q", "--hard") })
	list := l.list(own(c))
	if len(list) != 7 {
		t.Fatal(describe(list))
	}
	parent := func(n int) string { return l.Git("log", "-1", "--format=%P", list[n-1].Code.String()) }
	code := func(n int) string { return list[n-1].Code.String() }
	if parent(1) != first || parent(2) != code(1) || code(3) != code(2) {
		t.Errorf("turns 1 to 3 do not follow each other:\n%s", describe(list))
	}
	if head := l.Git("rev-parse", "HEAD~2"); parent(4) != head || list[3].Head.String() != head {
		t.Errorf("the parent of turn 4 is %s, want the agent's own commit %s", parent(4), head)
	}
	if code(5) != l.Git("rev-parse", "HEAD~1") || code(6) != l.Git("rev-parse", "HEAD") || code(7) != code(6) {
		t.Errorf("a worktree that equals HEAD is not HEAD itself:\n%s", describe(list))
	}
	if list[3].Files != 1 || list[4].Files != 0 || list[5].Files != 1 {
		t.Errorf("files changed:\n%s", describe(list))
	}
	l.verify(own(c))
	l.fsck()
}

// TestUnborn: a repository without commits.
func TestUnborn(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := emptyLab(t)
	c := l.client()
	l.Write("users.txt", "the user's\n")
	wants := []want{l.turn(c, "one", l.write("one.txt", "1\n")), l.turn(c, "two", nil)}
	if _, err := l.Try("rev-parse", "--verify", "-q", "HEAD"); err == nil {
		t.Error("the branch was born")
	}
	wants = append(wants, l.turn(c, "commit", func() { l.Commit("first") }), l.turn(c, "four", l.write("four.txt", "4\n")))
	list := l.check(own(c), wants...)
	if !list[0].Head.IsZero() || list[0].Branch != "main" || list[0].Files != 1 {
		t.Errorf("turn 1: %+v", list[0])
	}
	root := strings.Fields(l.Git("rev-list", "--max-parents=0", list[0].Code.String()))
	if len(root) != 1 || l.treeOf(root[0]) != emptyTree {
		t.Errorf("the code commit's history begins with %v, want a root commit with the empty tree", root)
	}
	l.fsck()
}

// TestUnbornWithoutPrompt: and the first event is the end of a turn.
func TestUnbornWithoutPrompt(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := emptyLab(t)
	c := l.client()
	record := c.Hook
	c.Hook = nil
	c.Prompt("one")
	c.Hook = record
	l.Write("one.txt", "1\n")
	c.Stop("done")
	l.check(own(c), want{prompt: "one", tree: l.tree(), base: emptyTree}, l.turn(c, "two", nil))
	l.fsck()
}
