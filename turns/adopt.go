package turns

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/transaction"
)

// ErrNoFork reports a mission that is no fork, or one of which it is not known where it began.
var ErrNoFork = errors.New("it is no fork")

// A ForkPoint is where a fork left another mission.
type ForkPoint struct {
	Of     ledger.TurnID // the turn that it was forked at, as its record names it
	Commit git.Hex       // where its branch began: that turn's start or end, or a state that was saved after it
}

// PointOf returns where a fork began. The error of a mission that is none wraps [ErrNoFork].
func PointOf(m *ledger.Mission) (ForkPoint, error) {
	base, err := git.ParseHash(m.Base)
	if m.ForkedFrom == nil || err != nil {
		return ForkPoint{}, fmt.Errorf("mission %s: %w", m.ID, ErrNoFork)
	}
	return ForkPoint{Of: *m.ForkedFrom, Commit: git.Hex(base)}, nil
}

// Adopt merges the work of a fork, from where it began up to the end of a turn, into the worktree: a
// three-way merge of trees, of which one is the worktree as it is. Otherwise it is like [Recorder.Revert].
// The mission of the fork says that it was adopted, see [ledger.Mission].
func (r *Recorder) Adopt(ctx context.Context, at time.Time, s *State, how Merging) (*Restored, error) {
	what := adoption(s)
	s, err := s.Usable(ctx, r.Workspace)
	if err == nil {
		err = s.Known()
	}
	if err != nil {
		return nil, err
	}
	done := new(Restored)
	err = r.change(ctx, of(transaction.Job{Mission: s.In, At: at, What: "adopt"}), func(ctx context.Context, tx *transaction.Tx) error {
		point, err := PointOf(tx.Ledger.Mission)
		if err != nil {
			return err
		}
		base, err := tx.Objects.TreeOf(point.Commit.Hash())
		if err != nil {
			return fmt.Errorf("where it began: %w", err)
		}
		theirs, err := tx.Objects.TreeOf(s.Commit.Hash())
		if err != nil {
			return err
		}
		merged, err := tx.Merge(ctx, base, tx.Snap.Tree, theirs, how.Foreign)
		if err != nil {
			return err
		}
		done.Conflicts = how.conflicts(merged)
		tx.Ledger.Mission.Adopted = &ledger.Adoption{Turn: s.Turn.Turn, At: tx.At}
		return done.checkOut(ctx, tx, transaction.Checkout{
			Checkout: how.Checkout, Tree: merged.Tree, Merged: s.Commit.Hash(), What: what, Subject: "before adopting " + s.short(),
		}, how.Merge)
	})
	if err != nil {
		return nil, fmt.Errorf("adopt %s: %w", s.Describe(), err)
	}
	return done, nil
}

// adoption says in words what adopting a state is: "adoption of turn a1b2c3d4/12".
func adoption(s *State) string { return "adoption of " + s.Describe() }
