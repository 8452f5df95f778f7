package blame_test

import (
	"fmt"
	"testing"

	"gitagent/internal/ledger"
	"gitagent/test/gittest"
)

// apart is a world where turns run in two forks, whose HEADs are the same as that of the first worktree.
func apart(t *testing.T) (top *tree, running []*agent) {
	w := newWorld(t, &profile{name: "apart"}, 3)
	top = w.machines[0].trees[0]
	top.turn()
	top.commit("the turn")
	w.tick()
	forked := top.ended()[0]
	for range 2 {
		if !top.forkOf(forked) {
			t.Fatal("no fork")
		}
		w.tick()
	}
	for _, tr := range top.trees[1:] {
		a := tr.agent(true)
		a.prompt()
		a.act()
		running = append(running, a)
	}
	return top, running
}

// mine lets the user write into a file that turns have changed, in place of its first lines.
func (tr *tree) mine(n int) {
	tr.write("a.go", append(tr.make(tr.user(), 5), tr.read("a.go")[n:]...))
	tr.tick()
}

// rightly asks when the turns have ended.
func rightly(t *testing.T, top *tree, running []*agent) {
	t.Helper()
	for _, a := range running {
		a.act()
		a.c.Stop("done")
		top.tick()
	}
	top.commit("all of it")
	top.check()
	if s := top.score(); s.wrong() > 0 || s.agentRight == 0 || s.userRight == 0 {
		t.Errorf("wrong answers:\n%s%s", heading, s.row("apart"))
	}
}

// TestElsewhere asks for lines that the user had written in one worktree when an adoption, and its undo, saved
// them, while turns ran in others.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	top, running := apart(t)
	top.mine(0)
	if !top.adopt() {
		t.Fatal("nothing was adopted")
	}
	top.tick()
	top.mine(2)
	if !top.undo() {
		t.Fatal("nothing was undone")
	}
	top.tick()
	if !top.adopt() {
		t.Fatal("nothing was adopted again")
	}
	top.tick()
	rightly(t, top, running)
}

// TestTrailed asks for lines of a commit that the ledger of a fork keeps since the second in which the user
// made it, with the trailers of what has the work of turns.
func TestTrailed(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	top, running := apart(t)
	list, trees := top.forks()
	top.mine(0)
	top.commit(fmt.Sprintf("mine\n\n%s: %s\n%s: %d", ledger.TrailerMission, trees[0].forked, ledger.TrailerTurns, list[0].Turn))
	top.noteAdopted(list[0])
	top.tick()
	rightly(t, top, running)
}
