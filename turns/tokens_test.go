package turns_test

import (
	"maps"
	"testing"

	"gitagent/internal/git"
	"gitagent/internal/record"
	"gitagent/internal/usage"
	"gitagent/test/gittest"
)

// messages are the tokens of so many messages of the client that tests replay.
func messages(n int64) usage.ByModel {
	return usage.ByModel{"claude-opus-4-8": {Input: 100 * n, CacheRead: 3 * n, CacheWrite: 20 * n, Output: 7 * n}}
}

// spentIn is what the head of a mission says of its tokens.
func (l *lab) spentIn(id record.ID) *record.Mission {
	l.t.Helper()
	m, err := record.ParseHead(id, []byte(l.Git("show", id.Ref()+":mission.json")), git.NewHash(gittest.Hash("1")).Format())
	if err != nil {
		l.t.Fatal(err)
	}
	return m
}

// spends checks what the turns of a mission have taken, and what it has taken itself: those of its own turns.
func (l *lab) spends(id record.ID, want ...int64) {
	l.t.Helper()
	var own usage.ByModel
	for i, t := range l.list(id) {
		if !maps.Equal(t.Tokens, messages(want[i])) {
			l.t.Errorf("turn %s has taken %v, want %v", t.ID(), t.Tokens, messages(want[i]))
		}
		if t.Output != t.Tokens.Sum().Output {
			l.t.Errorf("turn %s has written %d, and %d of its tokens", t.ID(), t.Output, t.Tokens.Sum().Output)
		}
		if t.Mission == id {
			own = own.Plus(t.Tokens)
		}
	}
	m := l.spentIn(id)
	if m.Spent == nil || !maps.Equal(m.Spent.Models, own) || !m.SpentAll() {
		l.t.Errorf("mission %s has taken %+v, want %v", id, m.Spent, own)
	}
}

func TestTokensOfTurns(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLab(t)
	c := l.client()
	l.turn(c, "first", l.write("a", "a")) // a tool, and the answer
	l.spends(own(c), 2)
	l.turn(c, "second", nil)
	l.spends(own(c), 2, 1)

	// The agent goes on after its Stop hook: the turn is recorded again.
	c.Prompt("third")
	c.Block("not yet", "go on")
	l.spends(own(c), 2, 1, 1)
	c.StopAgain("done")
	l.spends(own(c), 2, 1, 2)

	// What was taken before a fork is not the fork's.
	list := l.list(own(c))
	f := l.forkOf(list[1])
	l.fork(f)
	if m := l.spentIn(forkID); m.Spent != nil {
		t.Errorf("a fork begins with %+v", m.Spent)
	}
	r := l.at(f.Worktree).client()
	l.at(f.Worktree).turn(r, "other", l.write("b", "b"))
	l.spends(forkID, 2, 1, 2)
	l.spends(own(c), 2, 1, 2)
}

// TestTokensOfOldRecords: what nobody counted is unknown, and stays so.
func TestTokensOfOldRecords(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLab(t)
	c := l.client()
	l.turn(c, "first", nil)
	old := *l.list(own(c))[0]
	old.Tokens = nil
	l.putTurn(old)
	head := *l.spentIn(own(c))
	head.Spent = nil
	data, err := head.Encode()
	if err != nil {
		t.Fatal(err)
	}
	l.put(own(c), "mission.json", string(data))
	l.accept(own(c))

	l.turn(c, "second", nil)
	list := l.list(own(c))
	if list[0].Tokens != nil || list[0].Output != 7 || !maps.Equal(list[1].Tokens, messages(1)) {
		t.Errorf("turns have taken %v and %v", list[0].Tokens, list[1].Tokens)
	}
	m := l.spentIn(own(c))
	if m.SpentAll() || m.Spent.Since != 2 || !maps.Equal(m.Spent.Models, messages(1)) {
		t.Errorf("the mission has taken %+v", m.Spent)
	}
}

// TestTokensOfImported: who imports what hooks have not seen gets the same figures.
func TestTokensOfImported(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLab(t)
	c := l.unheard()
	l.turn(c, "first", l.write("a", "a"))
	l.turn(c, "second", nil)
	l.imported(false)
	l.spends(own(c), 2, 1)
	l.turn(c, "third", nil)
	l.imported(false)
	l.spends(own(c), 2, 1, 1)
}
