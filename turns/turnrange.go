package turns

import (
	"cmp"
	"context"
	"slices"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
)

// Between returns the numbers of the turns of a mission that came after one of its states, up to
// another, the oldest first: with the start of a turn that turn, too. Directories that can't be read are
// left out, and the error says which.
func Between(ctx context.Context, repo *git.Repo, from, to *State) ([]int, error) {
	first, last := from.number()+1, to.number()
	var numbers []int
	var unread ledger.ReadErrors
	err := withLedger(ctx, repo, to.In, func(l *ledger.Ledger) error {
		for r, err := range l.Turns() {
			unread.Add(err)
			if err == nil && r.Number < first {
				return nil
			}
			if err == nil && r.Number <= last {
				numbers = append(numbers, r.Number)
			}
		}
		return nil
	})
	slices.Reverse(numbers)
	return numbers, cmp.Or(err, unread.Err())
}

// EachOf hands over the records of some turns of a mission, in the order of the numbers, one at a time:
// a stranger's may be large. An error of f ends that and is returned; those that can't be read are left
// out, and the error says which.
func EachOf(ctx context.Context, repo *git.Repo, id record.ID, numbers []int, f func(*Turn) error) error {
	return eachOf(ctx, repo, id, numbers, func(_ *ledger.Ledger, t *Turn) error { return f(t) })
}

func eachOf(ctx context.Context, repo *git.Repo, id record.ID, numbers []int, f func(*ledger.Ledger, *Turn) error) error {
	var unread ledger.ReadErrors
	err := withLedger(ctx, repo, id, func(l *ledger.Ledger) error {
		for _, n := range numbers {
			t, err := readTurn(l, n)
			if unread.Add(err); err != nil {
				continue
			}
			if err := cmp.Or(ctx.Err(), f(l, t)); err != nil {
				return err
			}
		}
		return nil
	})
	return cmp.Or(err, unread.Err())
}

// withLedger opens the ledger of a mission for f. If there is none, the error is a [MissingError].
func withLedger(ctx context.Context, repo *git.Repo, id record.ID, f func(*ledger.Ledger) error) error {
	tip, err := tipOf(ctx, repo, id)
	if err != nil {
		return err
	}
	objects := repo.Objects(ctx)
	defer objects.Close()
	l, err := ledger.At(objects, id, tip)
	if err != nil {
		return err
	}
	return f(l)
}

// number is that of the last turn that had ended in the state, or before it.
func (s *State) number() int {
	switch {
	case s.Turn == nil:
		return 0
	case s.Start:
		return s.Turn.Turn - 1
	}
	return s.Turn.Turn
}

// Previous returns the turn before another one in the same ledger, nil if it is the first.
func Previous(ctx context.Context, repo *git.Repo, t *Turn) (before *Turn, err error) {
	err = inLedger(ctx, repo, t, func(l *ledger.Ledger) error {
		for r, err := range l.Turns() {
			if err != nil {
				return err
			}
			if r.Number < t.Turn {
				before, err = readTurn(l, r.Number)
				return err
			}
		}
		return nil
	})
	return before, err
}
