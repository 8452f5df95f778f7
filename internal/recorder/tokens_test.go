package recorder_test

import (
	"maps"
	"testing"

	"gitagent/internal/record"
	"gitagent/internal/usage"
	"gitagent/test/gittest"
	"gitagent/test/lab"
)

// spends checks what the turns of a mission have taken, and what it has taken itself: those of its own turns.
func spends(l *lab.Lab, id record.ID, want ...int64) {
	l.T.Helper()
	var own usage.ByModel
	for i, t := range l.List(id) {
		if !maps.Equal(t.Tokens, lab.Messages(want[i])) {
			l.T.Errorf("turn %s has taken %v, want %v", t.ID(), t.Tokens, lab.Messages(want[i]))
		}
		if t.Output != t.Tokens.Sum().Output {
			l.T.Errorf("turn %s has written %d, and %d of its tokens", t.ID(), t.Output, t.Tokens.Sum().Output)
		}
		if t.Mission == id {
			own = own.Plus(t.Tokens)
		}
	}
	m := l.SpentIn(id)
	if m.Spent == nil || !maps.Equal(m.Spent.Models, own) || !m.SpentAll() {
		l.T.Errorf("mission %s has taken %+v, want %v", id, m.Spent, own)
	}
}

func TestTokensOfTurns(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	l.Turn(c, "first", l.Writes("a", "a")) // a tool, and the answer
	spends(l, lab.Own(c), 2)
	l.Turn(c, "second", nil)
	spends(l, lab.Own(c), 2, 1)

	// The agent goes on after its Stop hook: the turn is recorded again.
	c.Prompt("third")
	c.Block("not yet", "go on")
	spends(l, lab.Own(c), 2, 1, 1)
	c.StopAgain("done")
	spends(l, lab.Own(c), 2, 1, 2)

	// What was taken before a fork is not the fork's.
	list := l.List(lab.Own(c))
	f := l.ForkOf(list[1])
	l.Fork(f)
	if m := l.SpentIn(lab.ForkID); m.Spent != nil {
		t.Errorf("a fork begins with %+v", m.Spent)
	}
	r := l.At(f.Worktree).Client()
	l.At(f.Worktree).Turn(r, "other", l.Writes("b", "b"))
	spends(l, lab.ForkID, 2, 1, 2)
	spends(l, lab.Own(c), 2, 1, 2)
}

// TestTokensOfOldRecords: what nobody counted is unknown, and stays so.
func TestTokensOfOldRecords(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	l.Turn(c, "first", nil)
	old := *l.List(lab.Own(c))[0]
	old.Tokens = nil
	l.PutTurn(old)
	head := *l.SpentIn(lab.Own(c))
	head.Spent = nil
	data, err := head.Encode()
	gittest.Must(t, err)
	l.Put(lab.Own(c), "mission.json", string(data))
	l.Accept(lab.Own(c))

	l.Turn(c, "second", nil)
	list := l.List(lab.Own(c))
	if list[0].Tokens != nil || list[0].Output != 7 || !maps.Equal(list[1].Tokens, lab.Messages(1)) {
		t.Errorf("turns have taken %v and %v", list[0].Tokens, list[1].Tokens)
	}
	m := l.SpentIn(lab.Own(c))
	if m.SpentAll() || m.Spent.Since != 2 || !maps.Equal(m.Spent.Models, lab.Messages(1)) {
		t.Errorf("the mission has taken %+v", m.Spent)
	}
}

// TestTokensOfImported: who imports what hooks have not seen gets the same figures.
func TestTokensOfImported(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Unheard()
	l.Turn(c, "first", l.Writes("a", "a"))
	l.Turn(c, "second", nil)
	l.Imported(false)
	spends(l, lab.Own(c), 2, 1)
	l.Turn(c, "third", nil)
	l.Imported(false)
	spends(l, lab.Own(c), 2, 1, 1)
}
