package provenance_test

import (
	"testing"
)

// TestElsewhere asks for lines that the user wrote in one worktree while turns ran in others, the HEADs of
// which were the same, and that an adoption and its undo saved.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &profile{name: "elsewhere"}, 3)
	top := w.machines[0].trees[0]
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
	first, second := top.trees[1], top.trees[2]
	running := []*agent{first.agent(true), second.agent(true)}
	for _, a := range running {
		a.prompt()
		a.act()
	}
	write := func(n int) { // into a file that turns have changed, in place of what was written there before
		mine := w.make(top.user(), 5)
		top.write("a.go", append(mine, top.read("a.go")[n:]...))
		w.tick()
	}
	write(0)
	if !top.adopt() {
		t.Fatal("nothing was adopted")
	}
	w.tick()
	write(2)
	if !top.undo() {
		t.Fatal("nothing was undone")
	}
	w.tick()
	if !top.adopt() {
		t.Fatal("nothing was adopted again")
	}
	w.tick()
	for _, a := range running {
		a.act()
		a.c.Stop("done")
		w.tick()
	}
	top.commit("all of it")
	top.check()
	if s := w.score(); s.wrong() > 0 || s.agentRight == 0 || s.userRight == 0 {
		t.Errorf("wrong answers:\n%s%s", heading, s.row("elsewhere"))
	}
}
