package turns_test

import "testing"

func TestTurns(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c := l.client()
	wants := []want{
		l.turn(c, "write", l.write("new.txt", "new\n")),
		l.turn(c, "just talk", nil),
		l.turn(c, "edit", l.write("dir/edited.txt", "one\n2\nthree\n")),
	}
	list := l.check(own(c), wants...)
	if first := list[0]; first.Files != 1 || first.Insertions != 1 || first.Deletions != 0 || first.Paths[0] != "new.txt" ||
		first.Tools["Edit"] != 1 || first.Context != 123 || first.Model != "claude-opus-4-8" || first.Branch != "main" {
		t.Errorf("first turn: %+v", first)
	}
	if list[1].Code != list[1].Base || list[1].Files != 0 {
		t.Errorf("a turn without a change: %+v", list[1])
	}
	if n := len(l.chain(own(c))); n != 4 {
		t.Errorf("the ledger has %d commits, want one for the mission and one for each of 3 turns", n)
	}
	l.quiet()
	l.fsck()
}
