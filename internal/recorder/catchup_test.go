package recorder

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/session"
	"gitagent/turns"
)

// TestMissed: turns are written by their numbers, the newest first, and whose they are: "s" the session's, "o" another
// one's, "f" the session's in the mission that this one was forked from, "x" one that can't be read, and "!" for a part
// of the ledger that can't be.
func TestMissed(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	const id = "a1b2c3d4"
	for _, tt := range []struct {
		name   string
		turns  string
		cursor int
		last   int
		of     record.ID // the mission of the last one, if that is another one
		want   int
		fails  bool
	}{
		{name: "there is none"},
		{name: "the state knows it", turns: "3s 2s 1s", cursor: 3, last: 3},
		{name: "the state is lost", turns: "3s 2s 1s", want: 3},
		{name: "a hook died after it had moved the refs", turns: "3s 2s 1s", cursor: 2, last: 2, want: 3},
		{name: "the client keeps no file", turns: "3s 2s", last: 3},
		{name: "the turn had no conversation", turns: "3s 2s", cursor: 2, last: 3},
		{name: "it went on in another mission since", turns: "3s 2s", cursor: 3, last: 9, of: "00000000"},
		{name: "the last one is another mission's", turns: "3s 2s", last: 9, of: "00000000", want: 3},
		{name: "others came since", turns: "5o 4o 3s", cursor: 3, last: 3},
		{name: "others came since, and the state is lost", turns: "5o 4o 3s", want: 3},
		{name: "one of its own among others", turns: "5o 4s 3s", cursor: 3, last: 3, want: 4},
		{name: "only others are there", turns: "2o 1o"},
		{name: "what a fork has inherited", turns: "2f 1f"},
		{name: "one can't be read", turns: "3x 2s 1s", want: 2},
		{name: "a part can't be read", turns: "3o ! 1s", fails: true},
		{name: "a part can't be read, before what is known", turns: "3s !", cursor: 3},
	} {
		st := &session.Known{Cursors: map[record.ID]session.Cursor{id: {Turn: tt.cursor}}}
		if tt.last > 0 {
			st.Last = &session.LastTurn{Mission: id, Turn: tt.last}
			if tt.of != "" {
				st.Last.Mission = tt.of
			}
		}
		whose := make(map[int]string)
		all := func(yield func(ledger.Numbered, error) bool) {
			for word := range strings.FieldsSeq(tt.turns) {
				var n ledger.Numbered
				var who string
				if _, err := fmt.Sscanf(word, "%d%s", &n.Number, &who); err != nil {
					yield(n, broken)
					return
				}
				if whose[n.Number] = who; !yield(n, nil) {
					return
				}
			}
		}
		got, err := missed(st, "s", id, all, func(n int) (*turns.Turn, error) {
			turn := &turns.Turn{Turn: n, Mission: id, Session: "s"}
			switch whose[n] {
			case "o":
				turn.Session = "other"
			case "f":
				turn.Mission = "00000000"
			case "x":
				return nil, broken
			}
			return turn, nil
		})
		number := 0
		if got != nil {
			number = got.Turn
		}
		if number != tt.want || (err != nil) != tt.fails {
			t.Errorf("%s: turn %d, %v; want %d", tt.name, number, err, tt.want)
		}
	}
}

// TestMissedBounded: of so many turns of others no more is read.
func TestMissedBounded(t *testing.T) {
	t.Parallel()
	read := 0
	all := func(yield func(ledger.Numbered, error) bool) {
		for n := 2 * maxCaughtUp; n > 0 && yield(ledger.Numbered{Number: n}, nil); n-- {
		}
	}
	got, err := missed(new(session.Known), "s", "a1b2c3d4", all, func(int) (*turns.Turn, error) { read++; return new(turns.Turn), nil })
	if got != nil || err != nil || read != maxCaughtUp {
		t.Errorf("%v, %v after %d", got, err, read)
	}
}
