package turns

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/ledgertx"
	"gitagent/internal/record"
	"gitagent/internal/snapshot"
)

// Reasons why there is nothing to adopt.
var (
	// ErrNoFork reports a mission that is no fork, or one with no known point.
	ErrNoFork = errors.New("it is no fork")
	// ErrInherited reports a turn that a fork has from its source.
	ErrInherited = errors.New("the fork has inherited it")
)

// An Adopted is the result of an adoption.
type Adopted struct {
	Restored               // without Present if there was nothing to adopt
	From     record.TurnID // the turn after which the adopted work begins
}

// Adopt merges the work of a fork, from its fork point up to a state, into the
// current worktree by a three-way merge of trees. Otherwise it is like
// [Recorder.Revert]. The fork's mission notes the adoption, see
// [record.Mission].
//
// Work that the fork has from another fork comes along unless it is here
// already; see [source.further]. If all of it is here, nothing is done.
func (r *Recorder) Adopt(ctx context.Context, at time.Time, s *State, how Merging) (*Adopted, error) {
	what := s.Describe()
	s, err := s.Usable(ctx, r.Workspace)
	if err == nil {
		err = s.Known()
	}
	if err != nil {
		return nil, err
	}
	done := new(Adopted)
	err = r.change(ctx, of(ledgertx.Job{Mission: s.In, At: at, What: "adopt"}), func(ctx context.Context, tx *ledgertx.Tx) error {
		point, err := r.adoptable(ctx, tx.Objects, tx.Ledger.Mission, tx.Snap.Head, s)
		if err != nil {
			return err
		}
		done.From = point.Of
		base, err := tx.Objects.TreeOf(point.Commit)
		if err != nil {
			return fmt.Errorf("find where it began: %w", err)
		}
		theirs, err := tx.Objects.TreeOf(s.Commit)
		if err != nil {
			return err
		}
		merged, err := tx.Merge(ctx, base, tx.Snap.Tree, theirs, how.Foreign)
		if err != nil {
			return err
		}
		c := ledgertx.CheckoutPlan{
			Checkout: how.RestorePlan, Tree: merged.Tree, Merged: s.Commit, What: adoption(s.In, s.Turn.Turn), Subject: "before adopting " + s.short(),
		}
		if c.Tree != tx.Snap.Tree {
			tx.Ledger.Mission.Adopted = &record.Adoption{Turn: s.Turn.Turn, At: tx.At}
			c.Noted = fmt.Sprintf("adopt %d", s.Turn.Turn)
		}
		done.Conflicts = how.conflicts(merged)
		if len(done.Conflicts) == 0 && c.Noted == "" {
			return nil
		}
		if err := there(tx, point, s, done.Conflicts); err != nil {
			return err
		}
		return done.checkOut(ctx, tx, c, how.Merge)
	})
	if err != nil {
		return nil, fmt.Errorf("adopt %s: %w", what, err)
	}
	return done, nil
}

// adoptable returns the point where the work begins that HEAD lacks of a state.
func (r *Recorder) adoptable(ctx context.Context, objects *git.Objects, m *record.Mission, head git.Head, s *State) (ForkPoint, error) {
	here, err := r.Mission(ctx)
	if err != nil {
		return ForkPoint{}, err
	}
	point, err := pointOf(m, s, here)
	if err != nil {
		return point, err
	}
	return outermost(point, func(at ForkPoint) (ForkPoint, bool, error) {
		source, err := r.source(ctx, objects, head, at, here)
		if err != nil || source == nil {
			return at, false, err
		}
		next, ok := source.further()
		return next, ok, nil
	})
}

// pointOf returns the fork point for adopting s while HEAD is on here's branch.
func pointOf(m *record.Mission, s *State, here record.ID) (ForkPoint, error) {
	point, err := PointOf(m)
	switch {
	case err != nil:
		return point, err
	case here == m.ID:
		return point, ErrOwnBranch
	case s.Turn.Mission != m.ID:
		return point, fmt.Errorf("%w: it is turn %s", ErrInherited, s.Turn.ID())
	}
	return point, nil
}

// there sets, for each conflict, the turns of the fork that changed its path.
func there(tx *ledgertx.Tx, point ForkPoint, s *State, conflicts []Conflict) error {
	after := point.Of.Turn
	if t, err := readTurn(tx.Ledger, after); err == nil && t.Mission != point.Of.Mission {
		after-- // it was forked before that turn, and has its own of that number
	}
	by, err := changedBy(tx, after, s.Turn.Turn, conflicts)
	for i := range by {
		conflicts[i].There = by[i]
	}
	return err
}

// adoption describes an adoption, as a step's What: "adoption of turn a1b2/12".
func adoption(id record.ID, turn int) string {
	return "adoption of turn " + record.TurnID{Mission: id, Turn: turn}.String()
}

// undone returns the adoption after a step was undone or redone, and whether it
// changes. It does not if the step belongs to another adoption.
func undone(m *record.Mission, step *snapshot.Step, at time.Time) (a record.Adoption, news bool) {
	if m.Adopted == nil || !m.Adopted.Commit.IsZero() || step.What != adoption(m.ID, m.Adopted.Turn) {
		return a, false
	}
	a = *m.Adopted
	switch {
	case !step.Undo && !a.Undone && step.At.Equal(a.At):
		a.Undone = true
		return a, true
	case step.Undo && a.Undone:
		a.Undone, a.At = false, at
		return a, true
	}
	return a, false
}
