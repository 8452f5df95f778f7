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

// Why there is nothing to adopt.
var (
	// ErrNoFork reports a mission that is no fork, or one of which it is not known where it began.
	ErrNoFork = errors.New("it is no fork")
	// ErrInherited reports a turn that a fork has from the mission that it was forked from.
	ErrInherited = errors.New("the fork has inherited it")
)

// An Adopted says what an adoption has done.
type Adopted struct {
	Restored               // without Present if there was nothing to adopt
	From     record.TurnID // the turn after which the work begins that was adopted
}

// Adopt merges the work of a fork, from where it began up to the end of a turn, into the worktree: a
// three-way merge of trees, of which one is the worktree as it is. Otherwise it is like [Recorder.Revert].
// The mission of the fork says that it was adopted, see [record.Mission].
//
// Work that the fork has from another fork comes along, unless it is here; see further. If all of it is
// here already, nothing is done.
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

// adoptable returns where the work begins that a state of a fork has and this checkout lacks.
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

// pointOf returns where a fork began one of whose states is to be adopted where HEAD is on the branch of here, if on that
// of any mission.
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

// there finds the turns of the fork that changed the paths of conflicts.
func there(tx *ledgertx.Tx, point ForkPoint, s *State, conflicts []Conflict) error {
	after := point.Of.Turn
	if t, err := readTurn(tx.Ledger, after); err == nil && t.Mission != point.Of.Mission {
		after-- // it was forked before that turn, and has one of its own with that number
	}
	by, err := changedBy(tx, after, s.Turn.Turn, conflicts)
	for i := range by {
		conflicts[i].There = by[i]
	}
	return err
}

// adoption says in words what adopting a fork up to a turn is: "adoption of turn a1b2c3d4/12".
func adoption(id record.ID, turn int) string {
	return "adoption of turn " + record.TurnID{Mission: id, Turn: turn}.String()
}

// undone returns what a mission says of its adoption when a step is taken back, and whether that is news. The
// step may be of an earlier adoption, or of one in another worktree: then it is none.
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
