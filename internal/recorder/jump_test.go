package recorder_test

import (
	"strings"
	"testing"
	"time"

	"gitagent/internal/checkout"
	"gitagent/internal/record"
	"gitagent/test/gittest"
	"gitagent/test/lab"
)

// A move is what HEAD does in the middle of a turn.
type move struct {
	name     string
	do       func(l *lab.Lab)
	switched bool // to another branch, which does not descend from the first: the base is HEAD
}

var moves = []move{
	{"commit", func(l *lab.Lab) { l.Commit("the agent's") }, false},
	{"two commits", func(l *lab.Lab) { l.Commit("the agent's"); l.Write("more", "1"); l.Commit("and more") }, false},
	{"amend", func(l *lab.Lab) { l.Git("add", "agents.txt"); l.Git("commit", "-q", "--amend", "-m", "amended") }, false},
	{"amend the message", func(l *lab.Lab) { l.Git("commit", "-q", "--amend", "-m", "amended") }, false},
	{"amend everything", func(l *lab.Lab) { l.Git("add", "-A"); l.Git("commit", "-q", "--amend", "-m", "amended") }, false},
	{"amend twice", func(l *lab.Lab) {
		l.Git("commit", "-q", "--amend", "-m", "amended")
		l.Git("add", "agents.txt")
		l.Git("commit", "-q", "--amend", "-m", "amended again")
	}, false},
	{"reset --hard", func(l *lab.Lab) { l.Git("reset", "-q", "--hard", "HEAD^") }, false},
	{"reset --hard, and clean", func(l *lab.Lab) { l.Git("reset", "-q", "--hard", "HEAD^"); l.Git("clean", "-qfd") }, false},
	{"reset --mixed", func(l *lab.Lab) { l.Git("reset", "-q", "HEAD^") }, false},
	{"reset --soft", func(l *lab.Lab) { l.Git("reset", "-q", "--soft", "HEAD^") }, false},
	{"reset --soft alone", func(l *lab.Lab) { l.Remove("agents.txt"); l.Git("reset", "-q", "--soft", "HEAD^") }, false},
	{"reset to before the mission", func(l *lab.Lab) { l.Git("reset", "-q", "--hard", "first") }, false},
	{"reset to another branch", func(l *lab.Lab) { l.Git("reset", "-q", "--hard", "other") }, false},
	{"reset and commit", func(l *lab.Lab) { l.Git("reset", "-q", "HEAD^"); l.Commit("anew") }, false},
	{"rebase", func(l *lab.Lab) { l.Git("-c", "rebase.autoStash=true", "rebase", "-q", "other") }, false},
	{"rebase, dropping a commit", func(l *lab.Lab) {
		l.Git("add", "agents.txt")
		l.Git("commit", "-q", "-m", "the agent's")
		l.Git("-c", "rebase.autoStash=true", "rebase", "-q", "--onto", "HEAD~2", "HEAD~1")
	}, false},
	{"rebase, under way", func(l *lab.Lab) {
		_, _ = l.Try("-c", "rebase.autoStash=true", "rebase", "-q", "--exec", "false", "other")
	}, false},
	{"pull --rebase", func(l *lab.Lab) { l.Git("-c", "rebase.autoStash=true", "pull", "-q", "--rebase", ".", "other") }, false},
	{"there and back", func(l *lab.Lab) {
		branch := l.Git("symbolic-ref", "--short", "HEAD")
		l.Git("checkout", "-q", "-f", "other")
		l.Git("checkout", "-q", "-f", branch)
	}, false},
	{"other branch", func(l *lab.Lab) { l.Git("checkout", "-q", "-f", "other") }, true},
	{"other branch, and commit", func(l *lab.Lab) { l.Git("checkout", "-q", "-f", "other"); l.Commit("the agent's") }, true},
	{"new branch from another", func(l *lab.Lab) { l.Git("checkout", "-q", "-f", "-b", "new", "other") }, true},
	{"new branch", func(l *lab.Lab) { l.Git("checkout", "-q", "-b", "new") }, false},
	{"new branch, and commit", func(l *lab.Lab) { l.Git("checkout", "-q", "-b", "new"); l.Commit("the agent's") }, false},
	{"detach", func(l *lab.Lab) { l.Git("checkout", "-q", "--detach") }, false},
	{"detach elsewhere", func(l *lab.Lab) { l.Git("checkout", "-q", "-f", "--detach", "HEAD^") }, true},
	{"merge", func(l *lab.Lab) { l.Git("merge", "-q", "--no-ff", "-m", "merge", "other") }, false},
	{"fast-forward", func(l *lab.Lab) { l.Git("merge", "-q", "--ff-only", "ahead") }, false},
	{"orphan", func(l *lab.Lab) { l.Git("checkout", "-q", "--orphan", "orphan") }, true},
	{"orphan, emptied", func(l *lab.Lab) { l.Git("checkout", "-q", "--orphan", "orphan"); l.Git("rm", "-rqf", ".") }, true},
	{"unborn again", func(l *lab.Lab) { l.Git("update-ref", "-d", "HEAD") }, false},
}

// TestHeadMoves: what HEAD does in the middle of a turn. The turn is recorded from the state that it
// began with, and that is kept, unless HEAD has switched to another branch.
func TestHeadMoves(t *testing.T) {
	t.Parallel()
	for _, m := range moves {
		for _, from := range []string{"clean", "dirty", "detached", "attached"} {
			switch {
			case from == "detached" && (m.switched || m.name == "there and back" || m.name == "unborn again"):
				continue
			case from == "attached" && m.name == "fast-forward":
				continue // the user's lines are a commit of the branch
			}
			t.Run(m.name+" from "+from, func(t *testing.T) {
				t.Parallel()
				switch m.name + " from " + from {
				case "amend from attached", "new branch, and commit from dirty", "other branch from dirty":
				default:
					gittest.Check(t)
					gittest.Sample(t)
				}
				headMoves(t, m, from)
			})
		}
	}
}

// branches makes a history: main and other go on from first, ahead from main, which is checked out.
func branches(l *lab.Lab) {
	l.T.Helper()
	l.Git("branch", "first")
	l.Git("checkout", "-q", "-b", "other")
	l.Write("other.txt", "other\n")
	l.Commit("other")
	l.Git("checkout", "-q", "main")
	l.Write("second.txt", "second\n")
	l.Commit("second")
	l.Git("checkout", "-q", "-b", "ahead")
	l.Write("ahead.txt", "ahead\n")
	l.Commit("ahead")
	l.Git("checkout", "-q", "main")
}

func headMoves(t *testing.T, m move, from string) {
	l := lab.New(t)
	branches(l)
	c := l.Client()
	id := lab.Own(c)
	switch from {
	case "attached":
		id = l.Start()
	case "detached":
		l.Git("checkout", "-q", "--detach")
	}
	var wants []lab.Want
	if from == "dirty" || from == "attached" { // the others begin the mission, so that nothing else keeps the start
		wants = append(wants, l.Turn(c, "first", nil))
		l.Write("users.txt", "the user's\n")
		l.Write("kept.txt", "kept\nby the user\n")
	}
	before := l.Tree()
	c.Prompt("move")
	start := l.Head()
	l.Write("agents.txt", "the agent's\n")
	m.do(l)
	w := lab.Want{Prompt: "move", Reply: "moved", Tree: l.Tree(), Base: before}
	head := l.Head()
	switch {
	case m.switched && head == "":
		w.Base = emptyTree
	case m.switched:
		w.Base = l.TreeOf(head)
	}
	c.Stop("moved")
	wants = append(wants, w)
	code := l.Check(id, wants...)[len(wants)-1].Code.String()
	if parents := l.Git("log", "-1", "--format=%P", code); code != head && head != start && parents != head && !(m.switched && head == "") {
		t.Errorf("the code commit has the parents %q, HEAD is %q", parents, head)
	}
	if from == "clean" {
		kept(l, id, wants...)
	}
	l.Check(id, append(wants, l.Turn(c, "last", l.Writes("last.txt", "last\n")))...)
	l.Quiet()
}

// kept checks that the states of a mission's first turns are there when nothing else keeps them.
func kept(l *lab.Lab, id record.ID, wants ...lab.Want) {
	l.T.Helper()
	l.Git("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
	l.Git("gc", "-q", "--prune=now")
	code, base := l.Trees(l.List(id))
	for i, w := range wants {
		if code[i] != w.Tree || base[i] != w.Base {
			l.T.Errorf("turn %d went from %s to %s, want %s, %s", i+1, base[i], code[i], w.Base, w.Tree)
		}
	}
	l.Verify(id)
	l.Fsck()
}

// TestAmendIsTheAgents: what the user had not committed at the start is not the agent's when that amends.
func TestAmendIsTheAgents(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	l.Write("users.txt", "the user's\n")
	list := l.Check(lab.Own(c), l.Turn(c, "amend", func() {
		l.Write("dir/edited.txt", "one\ntwo\nthree\nfour\n")
		l.Git("add", "dir/edited.txt")
		l.Git("commit", "-q", "--amend", "-m", "amended")
		l.Write("agents.txt", "the agent's\n")
	}))
	if a := list[0]; a.Files != 2 || a.Insertions != 2 || a.Deletions != 0 || strings.Join(a.Paths, " ") != "agents.txt dir/edited.txt" {
		t.Errorf("%d files, +%d -%d, %q", a.Files, a.Insertions, a.Deletions, a.Paths)
	}
	if parent := l.Git("log", "-1", "--format=%P", list[0].Code.String()); parent != l.Head() {
		t.Errorf("the code commit goes on from %s, HEAD is %s", parent, l.Head())
	}
}

// TestJumpAgain: a turn in which HEAD jumps goes on after its Stop hook, and jumps once more or not.
func TestJumpAgain(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	amend := func(l *lab.Lab) { l.Git("add", "-A"); l.Git("commit", "-q", "--amend", "-m", "amended") }
	for name, parts := range map[string][2]func(l *lab.Lab){
		"then nothing":        {amend, func(*lab.Lab) {}},
		"then work":           {amend, func(l *lab.Lab) { l.Write("more.txt", "more\n") }},
		"then twice":          {amend, func(l *lab.Lab) { l.Write("more.txt", "more\n"); amend(l) }},
		"only then":           {func(*lab.Lab) {}, amend},
		"commit, then work":   {func(l *lab.Lab) { l.Commit("the agent's") }, func(l *lab.Lab) { l.Write("more.txt", "more\n") }},
		"work, then reset":    {func(*lab.Lab) {}, func(l *lab.Lab) { l.Git("reset", "-q", "--hard", "HEAD^") }},
		"soft, then the same": {func(l *lab.Lab) { l.Git("reset", "-q", "--soft", "HEAD^") }, func(*lab.Lab) {}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gittest.Sample(t)
			l := lab.New(t)
			branches(l)
			c := l.Client()
			first := l.Turn(c, "first", nil)
			l.Write("users.txt", "the user's\n")
			w := lab.Want{Prompt: "jump", Reply: "now it is", Base: l.Tree()}
			c.Prompt("jump")
			l.Write("agents.txt", "the agent's\n")
			parts[0](l)
			c.Block("done", "go on")
			parts[1](l)
			c.StopAgain("now it is")
			w.Tree = l.Tree()
			list := l.Check(lab.Own(c), first, w, l.Turn(c, "last", l.Writes("last.txt", "last\n")))
			code, head := list[1].Code.String(), list[1].Head.String()
			if parent := l.Git("log", "-1", "--format=%P", code); code != head && parent != head {
				t.Errorf("the code commit goes on from %s, HEAD is %s", parent, head)
			}
			kept(l, lab.Own(c), first, w)
			l.Quiet()
		})
	}
}

// TestJumpUnheard: no event tells of the end of a turn in which HEAD jumps.
func TestJumpUnheard(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for name, queued := range map[string]bool{"the next prompt tells": false, "the turn from the queue ends": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := lab.New(t)
			c := l.Client()
			l.Write("users.txt", "the user's\n")
			w := lab.Want{Prompt: "jump", Outcome: record.Interrupted, Base: l.Tree()}
			c.Prompt("jump")
			if queued {
				c.Prompt("queued")
			}
			l.Git("commit", "-q", "--amend", "-m", "amended")
			l.Write("agents.txt", "the agent's\n")
			head := l.Head()
			c.Esc()
			next := lab.Want{Prompt: "queued", Base: l.Tree()}
			if queued {
				w.Tree, next.Base = w.Base, w.Base // nobody looked
				l.Write("more.txt", "more\n")
				next.Tree = l.Tree()
				c.Stop("done")
			} else {
				w.Tree = next.Base
				next = l.Turn(c, "after", l.Writes("more.txt", "more\n"))
			}
			list := l.Check(lab.Own(c), w, next)
			made := list[0].Code
			if queued {
				made = list[1].Code
			}
			if parent := l.Git("log", "-1", "--format=%P", made.String()); parent != head {
				t.Errorf("the code commit goes on from %s, HEAD is %s", parent, head)
			}
			kept(l, lab.Own(c), w, next)
			l.Quiet()
		})
	}
}

// TestJumpMidway: an event in the middle of a turn that nobody told of, after a jump in the turn before.
func TestJumpMidway(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	a := lab.Want{Prompt: "A", Outcome: record.Interrupted, Base: l.Tree(), Tree: l.Tree()} // nobody looks at its end
	c.Prompt("A")
	c.Prompt("B")
	l.Write("agents.txt", "the agent's\n")
	l.Git("commit", "-q", "--amend", "-m", "amended")
	c.Esc()
	c.Prompt("C") // while B runs
	l.Write("more.txt", "more\n")
	head := l.Head()
	b := lab.Want{Prompt: "B", Base: a.Base, Tree: l.Tree()}
	c.Stop("did B")
	list := l.Check(lab.Own(c), a, b)
	if parent := l.Git("log", "-1", "--format=%P", list[1].Code.String()); parent != head {
		t.Errorf("the code commit goes on from %s, HEAD is %s", parent, head)
	}
	kept(l, lab.Own(c), a, b)
	l.Quiet()
}

// TestJumpGone: nothing has kept the clean start of a turn, which begins at HEAD then.
func TestJumpGone(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	w := l.Turn(c, "amend", func() {
		l.Git("commit", "-q", "--amend", "-m", "amended")
		l.Git("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
		l.Git("gc", "-q", "--prune=now")
		l.Write("agents.txt", "the agent's\n")
	})
	list := l.Check(lab.Own(c), w)
	if list[0].Base.String() != l.Head() {
		t.Errorf("the base is %s, HEAD is %s", list[0].Base, l.Head())
	}
	l.Quiet()
	l.Fsck()
}

// TestJumpElsewhere: the start was seen in another worktree, which says nothing about this one.
func TestJumpElsewhere(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	dir := gittest.TempDir(t) + "/linked"
	l.Git("worktree", "add", "-q", "-b", "linked", dir)
	c := l.Client()
	l.Write("users.txt", "the user's\n")
	c.Prompt("move")
	w := l.At(dir)
	c.Cwd = dir
	w.Git("commit", "-q", "--amend", "-m", "amended")
	w.Write("agents.txt", "the agent's\n")
	c.Stop("moved")
	list := l.List(lab.Own(c))
	if len(list) != 1 || list[0].Base.String() != w.Head() || list[0].Files != 1 {
		t.Errorf("HEAD is %s:\n%s", w.Head(), lab.Describe(list))
	}
	l.Verify(lab.Own(c))
}

// TestJumpFromUnborn: the agent makes the first commit, and amends it.
func TestJumpFromUnborn(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.Empty(t)
	c := l.Client()
	l.Write("users.txt", "the user's\n")
	w := l.Turn(c, "first", func() {
		l.Write("agents.txt", "the agent's\n")
		l.Commit("first")
		l.Git("commit", "-q", "--amend", "-m", "amended")
		l.Write("more.txt", "more\n")
	})
	list := l.Check(lab.Own(c), w)
	if list[0].Files != 2 {
		t.Error(lab.Describe(list))
	}
	kept(l, lab.Own(c), w)
}

// TestRebaseAcrossTurns: a rebase begins in one turn, and ends in the next.
func TestRebaseAcrossTurns(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, end := range []string{"--continue", "--abort"} {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			l := lab.New(t)
			branches(l)
			c := l.Client()
			begin := l.Turn(c, "begin", func() { _, _ = l.Try("rebase", "-q", "--exec", "false", "other") })
			if l.Operation() != "rebase" {
				t.Fatal("no rebase is under way")
			}
			finish := l.Turn(c, "finish", func() { l.Git("rebase", end) })
			l.Check(lab.Own(c), begin, finish)
			kept(l, lab.Own(c), begin, finish)
			l.Quiet()
		})
	}
}

// TestForkBeforeAmend: a fork before a turn that amends begins where that began, and keeps it.
func TestForkBeforeAmend(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	start := l.Head()
	l.Turn(c, "amend", func() {
		l.Write("agents.txt", "the agent's\n")
		l.Git("add", "-A")
		l.Git("commit", "-q", "--amend", "-m", "amended")
	})
	f := l.ForkOf(l.List(lab.Own(c))[0])
	f.Before = true
	l.Fork(f)
	w := l.At(f.Worktree)
	if w.Head() != start {
		t.Errorf("the fork begins at %s, want %s", w.Head(), start)
	}
	l.Git("worktree", "remove", "--force", f.Worktree)
	l.Git("branch", "-q", "-D", l.Branch(lab.ForkID))
	l.Git("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
	l.Git("gc", "-q", "--prune=now")
	if kept := l.Git("rev-list", "--count", start, "--not", lab.ForkID.Ref()); kept != "0" {
		t.Errorf("the fork's ledger does not keep %s", start)
	}
	l.Fsck()
}

// TestOldJump: a record of a turn in which HEAD jumped, as version 0.1 made it, says so to whom reverts it.
func TestOldJump(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	l.Turn(c, "one", nil)
	l.Turn(c, "amend", func() {
		l.Git("commit", "-q", "--amend", "-m", "amended")
		l.Write("left", "2\n")
	})
	for _, old := range []bool{false, true} {
		turn := l.List(lab.Own(c))[1]
		if old {
			turn.Base = turn.Head
			turn = l.PutTurn(*turn)
		}
		done, err := checkout.Revert(t.Context(), l.Workspace(l.Dir), time.Now(), turn.Before(), turn.After(), checkout.Merging{RestorePlan: checkout.RestorePlan{Dry: true}})
		gittest.Must(t, err)
		if done.Jumped != old || len(done.Changes) != 1 {
			t.Errorf("old %t: jumped = %t, %+v", old, done.Jumped, done.Changes)
		}
	}
}
