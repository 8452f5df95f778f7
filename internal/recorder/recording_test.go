package recorder_test

import (
	"testing"

	"gitagent/test/lab"
)

func TestTurns(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	c := l.Client()
	wants := []lab.Want{
		l.Turn(c, "write", l.Writes("new.txt", "new\n")),
		l.Turn(c, "just talk", nil),
		l.Turn(c, "edit", l.Writes("dir/edited.txt", "one\n2\nthree\n")),
	}
	list := l.Check(lab.Own(c), wants...)
	if first := list[0]; first.Files != 1 || first.Insertions != 1 || first.Deletions != 0 || first.Paths[0] != "new.txt" ||
		first.Tools["Edit"] != 1 || first.Context != 123 || first.Model != "claude-opus-4-8" || first.Branch != "main" {
		t.Errorf("first turn: %+v", first)
	}
	if list[1].Code != list[1].Base || list[1].Files != 0 {
		t.Errorf("a turn without a change: %+v", list[1])
	}
	if n := len(l.Chain(lab.Own(c))); n != 4 {
		t.Errorf("the ledger has %d commits, want one for the mission and one for each of 3 turns", n)
	}
	l.Quiet()
	l.Fsck()
}
