package recorder_test

import (
	"strings"
	"testing"
	"time"

	"gitagent/internal/git/object"
	"gitagent/internal/journal"
	"gitagent/test/gittest"
	"gitagent/test/lab"
	"gitagent/test/replay"
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
			l := lab.New(t)
			c := l.Client()
			id := lab.Own(c)
			if attached {
				id = l.Start()
			}
			a := l.Turn(c, "one", l.Writes("one.txt", "1\n"))
			l.Write("users.txt", "the user's\n")
			b := l.Turn(c, "two", l.Writes("two.txt", "2\n"))
			l.Write("again.txt", "the user's\n")
			d := l.Turn(c, "three", nil)
			list := l.Check(id, a, b, d)
			if list[1].Files != 1 || list[1].Paths[0] != "two.txt" || list[2].Files != 0 {
				t.Errorf("the turns claim what the user did:\n%s", lab.Describe(list))
			}
			for i, n := range map[int]string{1: "2", 2: "3"} {
				if got := l.Git("log", "-1", "--format=%s", list[i].Base.String()); got != "before turn "+n {
					t.Errorf("the base of turn %s is %q", n, got)
				}
			}
			if n := l.Git("rev-list", "--count", "--first-parent", id.Ref()); n != "6" && !attached {
				t.Errorf("the ledger has %s commits, want 6: mission, 3 turns, 2 states before a turn", n)
			}
			l.Fsck()
		})
	}
}

// TestFirstPromptInDirtyWorktree: what the user had not committed when the mission began is not the
// agent's.
func TestFirstPromptInDirtyWorktree(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	l.Write("users.txt", "the user's\n")
	l.Write("kept.txt", "changed\n")
	c := l.Client()
	list := l.Check(lab.Own(c), l.Turn(c, "one", l.Writes("one.txt", "1\n")), l.Turn(c, "two", nil))
	if list[0].Files != 1 || list[1].Files != 0 || list[1].Code != list[1].Base {
		t.Errorf("the turns claim what the user did:\n%s", lab.Describe(list))
	}
}

// TestWithoutPrompt: an end of which the beginning was not seen. The base is the last state that is known, of
// this session or of anybody in the worktree. Without one it is not known, and nothing is said to be the turn's.
func TestWithoutPrompt(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	c := l.Client()
	record := c.Hook
	turn := func(prompt string, work func()) lab.Want {
		c.Hook = nil
		c.Prompt(prompt)
		c.Hook = record
		work()
		c.Stop("did " + prompt)
		return lab.Want{Prompt: prompt, Reply: "did " + prompt, Tree: l.Tree()}
	}
	l.Write("users.txt", "the user's\n")
	list := l.Check(lab.Own(c), turn("one", l.Writes("one.txt", "1\n")), turn("two", l.Writes("two.txt", "2\n")))
	if !list[0].Base.IsZero() || list[0].Files != 0 {
		t.Errorf("the base of turn 1 is %s, and it changed %d files; nobody knows that", list[0].Base, list[0].Files)
	}
	if list[1].Base != list[0].Code {
		t.Errorf("the base of turn 2 is %s, want the code commit of turn 1", list[1].Base)
	}
}

var emptyTree = object.NewHash(gittest.Hash("1")).Format().EmptyTree().String()

// TestParents: a code commit has exactly one parent: the start if HEAD has not moved since,
// otherwise HEAD.
func TestParents(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	first := l.Git("rev-parse", "HEAD")
	c := l.Client()
	l.Turn(c, "one", l.Writes("one.txt", "1\n"))
	l.Turn(c, "two", l.Writes("two.txt", "2\n"))
	l.Turn(c, "three", nil)
	l.Turn(c, "four", func() { l.Git("commit", "-q", "--allow-empty", "-m", "the agent's"); l.Write("four.txt", "4\n") })
	l.Turn(c, "five", func() { l.Commit("the agent's, all of it") })
	l.Turn(c, "six", func() { l.Git("rm", "-q", "-f", "one.txt"); l.Git("commit", "-q", "-m", "clean") })
	l.Turn(c, "undone", func() { l.Git("reset", "-q", "--hard") })
	list := l.List(lab.Own(c))
	if len(list) != 7 {
		t.Fatal(lab.Describe(list))
	}
	parent := func(n int) string { return l.Git("log", "-1", "--format=%P", list[n-1].Code.String()) }
	code := func(n int) string { return list[n-1].Code.String() }
	if parent(1) != first || parent(2) != code(1) || code(3) != code(2) {
		t.Errorf("turns 1 to 3 do not follow each other:\n%s", lab.Describe(list))
	}
	if head := l.Git("rev-parse", "HEAD~2"); parent(4) != head || list[3].Head.String() != head {
		t.Errorf("the parent of turn 4 is %s, want the agent's own commit %s", parent(4), head)
	}
	if code(5) != l.Git("rev-parse", "HEAD~1") || code(6) != l.Git("rev-parse", "HEAD") || code(7) != code(6) {
		t.Errorf("a worktree that equals HEAD is not HEAD itself:\n%s", lab.Describe(list))
	}
	if list[3].Files != 1 || list[4].Files != 0 || list[5].Files != 1 {
		t.Errorf("files changed:\n%s", lab.Describe(list))
	}
	l.Verify(lab.Own(c))
	l.Fsck()
}

// TestUnborn: a repository without commits.
func TestUnborn(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.Empty(t)
	c := l.Client()
	l.Write("users.txt", "the user's\n")
	wants := []lab.Want{l.Turn(c, "one", l.Writes("one.txt", "1\n")), l.Turn(c, "two", nil)}
	if _, err := l.Try("rev-parse", "--verify", "-q", "HEAD"); err == nil {
		t.Error("the branch was born")
	}
	wants = append(wants, l.Turn(c, "commit", func() { l.Commit("first") }), l.Turn(c, "four", l.Writes("four.txt", "4\n")))
	list := l.Check(lab.Own(c), wants...)
	if !list[0].Head.IsZero() || list[0].Branch != "main" || list[0].Files != 1 {
		t.Errorf("turn 1: %+v", list[0])
	}
	root := strings.Fields(l.Git("rev-list", "--max-parents=0", list[0].Code.String()))
	if len(root) != 1 || l.TreeOf(root[0]) != emptyTree {
		t.Errorf("the code commit's history begins with %v, want a root commit with the empty tree", root)
	}
	l.Fsck()
}

// TestUnbornWithoutPrompt: and the first event is the end of a turn.
func TestUnbornWithoutPrompt(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.Empty(t)
	c := l.Client()
	record := c.Hook
	c.Hook = nil
	c.Prompt("one")
	c.Hook = record
	l.Write("one.txt", "1\n")
	c.Stop("done")
	l.Check(lab.Own(c), lab.Want{Prompt: "one", Tree: l.Tree(), Base: lab.Unknown}, l.Turn(c, "two", nil))
	l.Fsck()
}

// TestUntold: a session's first turn of which nothing told that it began. It has what changed since the last state
// of the worktree that anybody left there, less what was written before the client's file says that it began.
func TestUntold(t *testing.T) {
	t.Parallel()
	unheard := func(c *replay.Client, prompt string, work func()) {
		record := c.Hook
		c.Hook = nil
		c.Prompt(prompt)
		c.Flush()
		c.Hook = record
		work()
		c.Stop("did " + prompt)
	}
	for _, tt := range []struct {
		name   string
		before func(l *lab.Lab) // after another session's turn, which has written one.txt
		paths  string           // that the turn has changed; "-" if nobody knows
		work   func(l *lab.Lab)
	}{
		{"after another session", nil, "two.txt", nil},
		{"and what a person wrote", func(l *lab.Lab) { l.Write("users.txt", "the user's\n"); l.Write("kept.txt", "the user's\n") }, "two.txt", nil},
		{"in a directory that a person made of a file", func(l *lab.Lab) { l.Remove("one.txt"); l.Write("one.txt/x", "the user's\n") }, "two.txt", nil},
		{"the person has committed", func(l *lab.Lab) { l.Commit("the user's") }, "-", nil},
		{"the agent has committed", nil, "-", func(l *lab.Lab) { l.Commit("the agent's") }},
		{"the journal is gone", func(l *lab.Lab) { l.Forget(journal.File) }, "-", nil},
		{"all is gone", func(l *lab.Lab) { l.Forget("") }, "-", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.name != "and what a person wrote" {
				gittest.Check(t)
			}
			l := lab.New(t)
			l.Write("kept.txt", "one\n")
			first := l.Client()
			l.Turn(first, "one", l.Writes("one.txt", "1\n"))
			if tt.before != nil {
				tt.before(l)
			}
			for told := time.Now(); time.Since(told) < 50*time.Millisecond; { // a file's time is of the kernel's last tick
				time.Sleep(time.Millisecond)
			}
			c := l.Client()
			unheard(c, "two", func() {
				l.Write("two.txt", "2\n")
				if tt.work != nil {
					tt.work(l)
				}
			})
			l.Turn(c, "three", l.Writes("three.txt", "3\n"))
			list := l.List(lab.Own(c))
			if len(list) != 2 {
				t.Fatalf("want two turns:\n%s", lab.Describe(list))
			}
			paths := strings.Join(list[0].Paths, " ")
			if list[0].Base.IsZero() && list[0].Files == 0 {
				paths = "-"
			}
			if paths != tt.paths {
				t.Errorf("the turn has changed %q, want %q:\n%s", paths, tt.paths, lab.Describe(list))
			}
			if list[1].Base != list[0].Code || strings.Join(list[1].Paths, " ") != "three.txt" {
				t.Errorf("the next one has changed %q:\n%s", list[1].Paths, lab.Describe(list))
			}
			l.Verify(lab.Own(c))
			l.Fsck()
			l.Quiet()
		})
	}
}
