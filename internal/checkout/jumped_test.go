package checkout

import (
	"errors"
	"fmt"
	"testing"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/test/gittest"
	"gitagent/turns"
)

// TestJumped: whether HEAD has jumped in a turn, as its record tells and the one before.
func TestJumped(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	at := func(n byte) object.Hash {
		if n == 0 {
			return object.Hash{}
		}
		return hash(n)
	}
	for _, tt := range []struct {
		name       string
		turn       int
		base, head byte
		before     byte // HEAD at the end of the turn before
		err        error
		descends   bool
		want       bool
		fails      bool
	}{
		{name: "it begins where HEAD went, to another branch", turn: 2, base: 5, head: 5, before: 4, want: true},
		{name: "it begins at HEAD, which went on between the turns", turn: 2, base: 5, head: 5, before: 4, descends: true},
		{name: "it begins at HEAD, which has stayed", turn: 2, base: 5, head: 5, before: 5},
		{name: "it begins at a commit of ours", turn: 2, base: 6, head: 5, before: 4},
		{name: "HEAD is unborn", turn: 2, base: 6, before: 4},
		{name: "HEAD was unborn", turn: 2, base: 5, head: 5},
		{name: "the first turn", turn: 1, base: 5, head: 5, before: 4},
		{name: "the record before is not there", turn: 2, base: 5, head: 5, err: git.ErrNotFound},
		{name: "the record before can't be read", turn: 2, base: 5, head: 5, err: broken, fails: true},
	} {
		got, err := jumped(&turns.Turn{Turn: tt.turn, Base: at(tt.base), Head: at(tt.head)},
			func() (*turns.Turn, error) { return &turns.Turn{Head: at(tt.before)}, tt.err },
			func(from, to object.Hash) (bool, error) {
				if from != at(tt.before) || to != at(tt.head) {
					t.Errorf("%s: it is asked whether %s descends from %s", tt.name, to, from)
				}
				return tt.descends, nil
			})
		if got != tt.want || (err != nil) != tt.fails {
			t.Errorf("%s: %t, %v; want %t", tt.name, got, err, tt.want)
		}
	}
	_, err := jumped(&turns.Turn{Turn: 2, Base: at(5), Head: at(5)}, func() (*turns.Turn, error) { return &turns.Turn{Head: at(4)}, nil },
		func(_, _ object.Hash) (bool, error) { return false, broken })
	if !errors.Is(err, broken) {
		t.Errorf("git can't tell: %v", err)
	}
}

// TestKeepSince: what of a killed step is taken back, and what somebody has changed since stays.
func TestKeepSince(t *testing.T) {
	t.Parallel()
	file := func(n byte) object.Entry { return object.Entry{Mode: filemode.Regular, Hash: hash(n)} }
	at := func(n byte) *object.Entry { e := file(n); return &e }
	none := object.Entry{}
	for _, tt := range []struct {
		name       string
		before     object.Entry
		since      *object.Entry // nil for as the step would have left it
		cut        bool
		takenBack  bool
		withoutAsk bool // it is not looked at
	}{
		{name: "the step has changed it", before: file(1), takenBack: true},
		{name: "the step has made it", before: none, takenBack: true},
		{name: "it is gone", before: file(1), since: &none, takenBack: true, withoutAsk: true},
		{name: "the step had not come to it", before: file(1), since: at(1), takenBack: true, withoutAsk: true},
		{name: "the step has written a part of it", before: file(1), since: at(3), cut: true, takenBack: true},
		{name: "somebody has changed it", before: file(1), since: at(3)},
		{name: "somebody has made it", before: none, since: at(3)},
		{name: "somebody has made it executable", before: file(1), since: &object.Entry{Mode: filemode.Executable, Hash: hash(1)}},
	} {
		was, since := map[string]object.Entry{"path": tt.before}, map[string]object.Entry{"other": file(9)}
		if tt.since != nil {
			since["path"] = *tt.since
		}
		keepSince(was, since, func(path string, is object.Entry) bool {
			if path != "path" || is != since["path"] || tt.withoutAsk {
				t.Errorf("%s: it is asked whether %q, which is %+v, was cut off", tt.name, path, is)
			}
			return tt.cut
		})
		if _, back := was["path"]; back != tt.takenBack {
			t.Errorf("%s: it is taken back: %t", tt.name, back)
		}
	}
}

// hash is a made-up commit.
func hash(n byte) object.Hash { return object.NewHash(gittest.Hash(fmt.Sprintf("%02x", n))) }
