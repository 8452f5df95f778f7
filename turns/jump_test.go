package turns_test

import (
	"strings"
	"testing"
	"time"

	"gitagent/internal/record"
	"gitagent/test/gittest"
	"gitagent/turns"
)

// A move is what HEAD does in the middle of a turn.
type move struct {
	name     string
	do       func(l *lab)
	switched bool // to another branch, which does not descend from the first: the base is HEAD
}

var moves = []move{
	{"commit", func(l *lab) { l.Commit("the agent's") }, false},
	{"two commits", func(l *lab) { l.Commit("the agent's"); l.Write("more", "1"); l.Commit("and more") }, false},
	{"amend", func(l *lab) { l.Git("add", "agents.txt"); l.Git("commit", "-q", "--amend", "-m", "amended") }, false},
	{"amend the message", func(l *lab) { l.Git("commit", "-q", "--amend", "-m", "amended") }, false},
	{"amend everything", func(l *lab) { l.Git("add", "-A"); l.Git("commit", "-q", "--amend", "-m", "amended") }, false},
	{"amend twice", func(l *lab) {
		l.Git("commit", "-q", "--amend", "-m", "amended")
		l.Git("add", "agents.txt")
		l.Git("commit", "-q", "--amend", "-m", "amended again")
	}, false},
	{"reset --hard", func(l *lab) { l.Git("reset", "-q", "--hard", "HEAD^") }, false},
	{"reset --hard, and clean", func(l *lab) { l.Git("reset", "-q", "--hard", "HEAD^"); l.Git("clean", "-qfd") }, false},
	{"reset --mixed", func(l *lab) { l.Git("reset", "-q", "HEAD^") }, false},
	{"reset --soft", func(l *lab) { l.Git("reset", "-q", "--soft", "HEAD^") }, false},
	{"reset --soft alone", func(l *lab) { l.remove("agents.txt"); l.Git("reset", "-q", "--soft", "HEAD^") }, false},
	{"reset to before the mission", func(l *lab) { l.Git("reset", "-q", "--hard", "first") }, false},
	{"reset to another branch", func(l *lab) { l.Git("reset", "-q", "--hard", "other") }, false},
	{"reset and commit", func(l *lab) { l.Git("reset", "-q", "HEAD^"); l.Commit("anew") }, false},
	{"rebase", func(l *lab) { l.Git("-c", "rebase.autoStash=true", "rebase", "-q", "other") }, false},
	{"rebase, dropping a commit", func(l *lab) {
		l.Git("add", "agents.txt")
		l.Git("commit", "-q", "-m", "the agent's")
		l.Git("-c", "rebase.autoStash=true", "rebase", "-q", "--onto", "HEAD~2", "HEAD~1")
	}, false},
	{"rebase, under way", func(l *lab) {
		_, _ = l.Try("-c", "rebase.autoStash=true", "rebase", "-q", "--exec", "false", "other")
	}, false},
	{"pull --rebase", func(l *lab) { l.Git("-c", "rebase.autoStash=true", "pull", "-q", "--rebase", ".", "other") }, false},
	{"there and back", func(l *lab) {
		branch := l.Git("symbolic-ref", "--short", "HEAD")
		l.Git("checkout", "-q", "-f", "other")
		l.Git("checkout", "-q", "-f", branch)
	}, false},
	{"other branch", func(l *lab) { l.Git("checkout", "-q", "-f", "other") }, true},
	{"other branch, and commit", func(l *lab) { l.Git("checkout", "-q", "-f", "other"); l.Commit("the agent's") }, true},
	{"new branch from another", func(l *lab) { l.Git("checkout", "-q", "-f", "-b", "new", "other") }, true},
	{"new branch", func(l *lab) { l.Git("checkout", "-q", "-b", "new") }, false},
	{"new branch, and commit", func(l *lab) { l.Git("checkout", "-q", "-b", "new"); l.Commit("the agent's") }, false},
	{"detach", func(l *lab) { l.Git("checkout", "-q", "--detach") }, false},
	{"detach elsewhere", func(l *lab) { l.Git("checkout", "-q", "-f", "--detach", "HEAD^") }, true},
	{"merge", func(l *lab) { l.Git("merge", "-q", "--no-ff", "-m", "merge", "other") }, false},
	{"fast-forward", func(l *lab) { l.Git("merge", "-q", "--ff-only", "ahead") }, false},
	{"orphan", func(l *lab) { l.Git("checkout", "-q", "--orphan", "orphan") }, true},
	{"orphan, emptied", func(l *lab) { l.Git("checkout", "-q", "--orphan", "orphan"); l.Git("rm", "-rqf", ".") }, true},
	{"unborn again", func(l *lab) { l.Git("update-ref", "-d", "HEAD") }, false},
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
func (l *lab) branches() {
	l.t.Helper()
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

// head is HEAD's commit, "" on an unborn branch.
func (l *lab) head() string {
	head, _ := l.Try("rev-parse", "--verify", "-q", "HEAD")
	return head
}

func headMoves(t *testing.T, m move, from string) {
	l := newLab(t)
	l.branches()
	c := l.client()
	id := own(c)
	switch from {
	case "attached":
		id = l.start()
	case "detached":
		l.Git("checkout", "-q", "--detach")
	}
	var wants []want
	if from == "dirty" || from == "attached" { // the others begin the mission, so that nothing else keeps the start
		wants = append(wants, l.turn(c, "first", nil))
		l.Write("users.txt", "the user's\n")
		l.Write("kept.txt", "kept\nby the user\n")
	}
	before := l.tree()
	c.Prompt("move")
	start := l.head()
	l.Write("agents.txt", "the agent's\n")
	m.do(l)
	w := want{prompt: "move", reply: "moved", tree: l.tree(), base: before}
	head := l.head()
	switch {
	case m.switched && head == "":
		w.base = emptyTree
	case m.switched:
		w.base = l.treeOf(head)
	}
	c.Stop("moved")
	wants = append(wants, w)
	code := l.check(id, wants...)[len(wants)-1].Code.String()
	if parents := l.Git("log", "-1", "--format=%P", code); code != head && head != start && parents != head && !(m.switched && head == "") {
		t.Errorf("the code commit has the parents %q, HEAD is %q", parents, head)
	}
	if from == "clean" {
		l.kept(id, wants...)
	}
	l.check(id, append(wants, l.turn(c, "last", l.write("last.txt", "last\n")))...)
	l.quiet()
}

// kept checks that the states of a mission's first turns are there when nothing else keeps them.
func (l *lab) kept(id record.ID, wants ...want) {
	l.t.Helper()
	l.Git("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
	l.Git("gc", "-q", "--prune=now")
	code, base := l.trees(l.list(id))
	for i, w := range wants {
		if code[i] != w.tree || base[i] != w.base {
			l.t.Errorf("turn %d went from %s to %s, want %s, %s", i+1, base[i], code[i], w.base, w.tree)
		}
	}
	l.verify(id)
	l.fsck()
}

// TestAmendIsTheAgents: what the user had not committed at the start is not the agent's when that amends.
func TestAmendIsTheAgents(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLab(t)
	c := l.client()
	l.Write("users.txt", "the user's\n")
	list := l.check(own(c), l.turn(c, "amend", func() {
		l.Write("dir/edited.txt", "one\ntwo\nthree\nfour\n")
		l.Git("add", "dir/edited.txt")
		l.Git("commit", "-q", "--amend", "-m", "amended")
		l.Write("agents.txt", "the agent's\n")
	}))
	if a := list[0]; a.Files != 2 || a.Insertions != 2 || a.Deletions != 0 || strings.Join(a.Paths, " ") != "agents.txt dir/edited.txt" {
		t.Errorf("%d files, +%d -%d, %q", a.Files, a.Insertions, a.Deletions, a.Paths)
	}
	if parent := l.Git("log", "-1", "--format=%P", list[0].Code.String()); parent != l.head() {
		t.Errorf("the code commit goes on from %s, HEAD is %s", parent, l.head())
	}
}

// TestJumpAgain: a turn in which HEAD jumps goes on after its Stop hook, and jumps once more or not.
func TestJumpAgain(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	amend := func(l *lab) { l.Git("add", "-A"); l.Git("commit", "-q", "--amend", "-m", "amended") }
	for name, parts := range map[string][2]func(l *lab){
		"then nothing":        {amend, func(*lab) {}},
		"then work":           {amend, func(l *lab) { l.Write("more.txt", "more\n") }},
		"then twice":          {amend, func(l *lab) { l.Write("more.txt", "more\n"); amend(l) }},
		"only then":           {func(*lab) {}, amend},
		"commit, then work":   {func(l *lab) { l.Commit("the agent's") }, func(l *lab) { l.Write("more.txt", "more\n") }},
		"work, then reset":    {func(*lab) {}, func(l *lab) { l.Git("reset", "-q", "--hard", "HEAD^") }},
		"soft, then the same": {func(l *lab) { l.Git("reset", "-q", "--soft", "HEAD^") }, func(*lab) {}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gittest.Sample(t)
			l := newLab(t)
			l.branches()
			c := l.client()
			first := l.turn(c, "first", nil)
			l.Write("users.txt", "the user's\n")
			w := want{prompt: "jump", reply: "now it is", base: l.tree()}
			c.Prompt("jump")
			l.Write("agents.txt", "the agent's\n")
			parts[0](l)
			c.Block("done", "go on")
			parts[1](l)
			c.StopAgain("now it is")
			w.tree = l.tree()
			list := l.check(own(c), first, w, l.turn(c, "last", l.write("last.txt", "last\n")))
			code, head := list[1].Code.String(), list[1].Head.String()
			if parent := l.Git("log", "-1", "--format=%P", code); code != head && parent != head {
				t.Errorf("the code commit goes on from %s, HEAD is %s", parent, head)
			}
			l.kept(own(c), first, w)
			l.quiet()
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
			l := newLab(t)
			c := l.client()
			l.Write("users.txt", "the user's\n")
			w := want{prompt: "jump", outcome: record.Interrupted, base: l.tree()}
			c.Prompt("jump")
			if queued {
				c.Prompt("queued")
			}
			l.Git("commit", "-q", "--amend", "-m", "amended")
			l.Write("agents.txt", "the agent's\n")
			head := l.head()
			c.Esc()
			next := want{prompt: "queued", base: l.tree()}
			if queued {
				w.tree, next.base = w.base, w.base // nobody looked
				l.Write("more.txt", "more\n")
				next.tree = l.tree()
				c.Stop("done")
			} else {
				w.tree = next.base
				next = l.turn(c, "after", l.write("more.txt", "more\n"))
			}
			list := l.check(own(c), w, next)
			made := list[0].Code
			if queued {
				made = list[1].Code
			}
			if parent := l.Git("log", "-1", "--format=%P", made.String()); parent != head {
				t.Errorf("the code commit goes on from %s, HEAD is %s", parent, head)
			}
			l.kept(own(c), w, next)
			l.quiet()
		})
	}
}

// TestJumpMidway: an event in the middle of a turn that nobody told of, after a jump in the turn before.
func TestJumpMidway(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLab(t)
	c := l.client()
	a := want{prompt: "A", outcome: record.Interrupted, base: l.tree(), tree: l.tree()} // nobody looks at its end
	c.Prompt("A")
	c.Prompt("B")
	l.Write("agents.txt", "the agent's\n")
	l.Git("commit", "-q", "--amend", "-m", "amended")
	c.Esc()
	c.Prompt("C") // while B runs
	l.Write("more.txt", "more\n")
	head := l.head()
	b := want{prompt: "B", base: a.base, tree: l.tree()}
	c.Stop("did B")
	list := l.check(own(c), a, b)
	if parent := l.Git("log", "-1", "--format=%P", list[1].Code.String()); parent != head {
		t.Errorf("the code commit goes on from %s, HEAD is %s", parent, head)
	}
	l.kept(own(c), a, b)
	l.quiet()
}

// TestJumpGone: nothing has kept the clean start of a turn, which begins at HEAD then.
func TestJumpGone(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLab(t)
	c := l.client()
	w := l.turn(c, "amend", func() {
		l.Git("commit", "-q", "--amend", "-m", "amended")
		l.Git("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
		l.Git("gc", "-q", "--prune=now")
		l.Write("agents.txt", "the agent's\n")
	})
	list := l.check(own(c), w)
	if list[0].Base.String() != l.head() {
		t.Errorf("the base is %s, HEAD is %s", list[0].Base, l.head())
	}
	l.quiet()
	l.fsck()
}

// TestJumpElsewhere: the start was seen in another worktree, which says nothing about this one.
func TestJumpElsewhere(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLab(t)
	dir := gittest.TempDir(t) + "/linked"
	l.Git("worktree", "add", "-q", "-b", "linked", dir)
	c := l.client()
	l.Write("users.txt", "the user's\n")
	c.Prompt("move")
	w := l.at(dir)
	c.Cwd = dir
	w.Git("commit", "-q", "--amend", "-m", "amended")
	w.Write("agents.txt", "the agent's\n")
	c.Stop("moved")
	list := l.list(own(c))
	if len(list) != 1 || list[0].Base.String() != w.head() || list[0].Files != 1 {
		t.Errorf("HEAD is %s:\n%s", w.head(), describe(list))
	}
	l.verify(own(c))
}

// TestJumpFromUnborn: the agent makes the first commit, and amends it.
func TestJumpFromUnborn(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := emptyLab(t)
	c := l.client()
	l.Write("users.txt", "the user's\n")
	w := l.turn(c, "first", func() {
		l.Write("agents.txt", "the agent's\n")
		l.Commit("first")
		l.Git("commit", "-q", "--amend", "-m", "amended")
		l.Write("more.txt", "more\n")
	})
	list := l.check(own(c), w)
	if list[0].Files != 2 {
		t.Error(describe(list))
	}
	l.kept(own(c), w)
}

// TestRebaseAcrossTurns: a rebase begins in one turn, and ends in the next.
func TestRebaseAcrossTurns(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, end := range []string{"--continue", "--abort"} {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.branches()
			c := l.client()
			begin := l.turn(c, "begin", func() { _, _ = l.Try("rebase", "-q", "--exec", "false", "other") })
			if l.operation() != "rebase" {
				t.Fatal("no rebase is under way")
			}
			finish := l.turn(c, "finish", func() { l.Git("rebase", end) })
			l.check(own(c), begin, finish)
			l.kept(own(c), begin, finish)
			l.quiet()
		})
	}
}

// TestForkBeforeAmend: a fork before a turn that amends begins where that began, and keeps it.
func TestForkBeforeAmend(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLab(t)
	c := l.client()
	start := l.head()
	l.turn(c, "amend", func() {
		l.Write("agents.txt", "the agent's\n")
		l.Git("add", "-A")
		l.Git("commit", "-q", "--amend", "-m", "amended")
	})
	f := l.forkOf(l.list(own(c))[0])
	f.Before = true
	l.fork(f)
	w := l.at(f.Worktree)
	if w.head() != start {
		t.Errorf("the fork begins at %s, want %s", w.head(), start)
	}
	l.Git("worktree", "remove", "--force", f.Worktree)
	l.Git("branch", "-q", "-D", l.branch(forkID))
	l.Git("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
	l.Git("gc", "-q", "--prune=now")
	if kept := l.Git("rev-list", "--count", start, "--not", forkID.Ref()); kept != "0" {
		t.Errorf("the fork's ledger does not keep %s", start)
	}
	l.fsck()
}

// TestOldJump: a record of a turn in which HEAD jumped, as version 0.1 made it, says so to whom reverts it.
func TestOldJump(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLab(t)
	c := l.client()
	l.turn(c, "one", nil)
	l.turn(c, "amend", func() {
		l.Git("commit", "-q", "--amend", "-m", "amended")
		l.Write("left", "2\n")
	})
	for _, old := range []bool{false, true} {
		turn := l.list(own(c))[1]
		if old {
			turn.Base = turn.Head
			turn = l.putTurn(*turn)
		}
		done, err := l.recorder(l.Dir).Revert(t.Context(), time.Now(), turn.Before(), turn.After(), turns.Merging{RestorePlan: turns.RestorePlan{Dry: true}})
		if err != nil {
			t.Fatal(err)
		}
		if done.Jumped != old || len(done.Changes) != 1 {
			t.Errorf("old %t: jumped = %t, %+v", old, done.Jumped, done.Changes)
		}
	}
}
