package turns_test

import (
	"testing"

	"gitagent/internal/ledger"
	"gitagent/test/gittest"
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
				gittest.Sample(t)
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
	first := l.turn(c, "first", nil)
	if from == "dirty" || from == "attached" {
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
	list := l.check(id, first, w, l.turn(c, "last", l.write("last.txt", "last\n")))
	code := list[1].Code.String()
	if parents := l.Git("log", "-1", "--format=%P", code); code != head && head != start && parents != head && !(m.switched && head == "") {
		t.Errorf("the code commit has the parents %q, HEAD is %q", parents, head)
	}
	l.kept(id, first, w)
	l.quiet()
}

// kept checks that the states of a mission's first turns are there when nothing else keeps them.
func (l *lab) kept(id ledger.ID, wants ...want) {
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
