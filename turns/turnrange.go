package turns

import (
	"cmp"
	"context"
	"slices"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
)

// Between returns the numbers of the turns after one state of a mission, up to
// another, oldest first; if from is a turn's start, with that turn. Unreadable
// directories are left out, and the error says which.
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

// EachOf calls f with the records of some turns, in order, one at a time, since
// untrusted ones may be large. An error of f ends that and is returned;
// unreadable ones are left out, and the error says which.
func EachOf(ctx context.Context, repo *git.Repo, id record.ID, numbers []int, f func(*Turn) error) error {
	return eachOf(ctx, repo, id, numbers, func(_ *ledger.Ledger, t *Turn) error { return f(t) })
}

func eachOf(ctx context.Context, repo *git.Repo, id record.ID, numbers []int, f func(*ledger.Ledger, *Turn) error) error {
	var unread ledger.ReadErrors
	err := withLedger(ctx, repo, id, func(l *ledger.Ledger) error {
		for _, n := range numbers {
			t, err := ReadIn(l, n)
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

// withLedger calls f with a mission's ledger, or returns a [MissingError].
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

// number returns the last turn that had ended by the state.
func (s *State) number() int {
	switch {
	case s.Turn == nil:
		return 0
	case s.Start, s.Within():
		return s.Turn.Turn - 1
	}
	return s.Turn.Turn
}

// Previous returns the turn before t in its ledger, or nil.
func Previous(ctx context.Context, repo *git.Repo, t *Turn) (before *Turn, err error) {
	err = inLedger(ctx, repo, t, func(l *ledger.Ledger) error {
		for r, err := range l.Turns() {
			if err != nil {
				return err
			}
			if r.Number < t.Turn {
				before, err = ReadIn(l, r.Number)
				return err
			}
		}
		return nil
	})
	return before, err
}
