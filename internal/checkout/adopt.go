package checkout

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/ledgertx"
	"gitagent/internal/record"
	"gitagent/internal/snapshot"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// An Adopted is the result of an adoption.
type Adopted struct {
	Restored               // without Present if there was nothing to adopt
	From     record.TurnID // the turn after which the adopted work begins
}

// Adopt merges the work of a fork, from its fork point up to a state, into the
// current worktree by a three-way merge of trees. Otherwise it is like
// [Revert]. The fork's mission notes the adoption, see [record.Mission].
//
// Work that the fork has from another fork comes along unless it is here
// already; see [turns.Adoptable]. If all of it is here, nothing is done.
func Adopt(ctx context.Context, w *workspace.Workspace, at time.Time, s *turns.State, how Merging) (*Adopted, error) {
	what := s.Describe()
	s, err := s.Usable(ctx, w)
	if err == nil {
		err = s.Known()
	}
	if err != nil {
		return nil, err
	}
	done := new(Adopted)
	err = change(ctx, w, of(ledgertx.Job{Mission: s.In, At: at, What: "adopt"}), func(ctx context.Context, tx *ledgertx.Tx) error {
		point, err := turns.Adoptable(ctx, w, tx.Objects, tx.Ledger.Mission, tx.Snap.Head, s)
		if err != nil {
			return err
		}
		done.From = point.Of
		base, err := tx.Objects.TreeOf(point.Commit)
		if err != nil {
			return fmt.Errorf("find where it began: %w", err)
		}
		theirs, err := ownWork(ctx, tx, point, base, s, how.Foreign)
		if err != nil {
			return err
		}
		merged, err := tx.Merge(ctx, base, tx.Snap.Tree, theirs, how.Foreign)
		if err != nil {
			return err
		}
		c := ledgertx.CheckoutPlan{
			Checkout: how.RestorePlan, Tree: merged.Tree, Merged: s.Commit, What: adoption(s.In, s.Turn.Turn), Subject: "before adopting " + short(s),
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

// ownWork returns the tree that has a fork's work up to a state: the state's or,
// if others worked in any of its turns, what the turns themselves made of the
// tree that it began with. Where that can't be had, it is all.
func ownWork(ctx context.Context, tx *ledgertx.Tx, point turns.ForkPoint, base object.Hash, s *turns.State, foreign bool) (object.Hash, error) {
	all, err := tx.Objects.TreeOf(s.Commit)
	if err != nil {
		return all, err
	}
	var own []share // the newest first
	beside := false
	for r, err := range tx.Ledger.TurnsBelow(s.Turn.Turn + 1) {
		if err != nil {
			return all, nil
		}
		t, err := turns.ReadIn(tx.Ledger, r.Number)
		if err != nil {
			return all, nil
		}
		if t.ID() == point.Of || t.Turn < point.Of.Turn {
			break
		}
		c := t.Change()
		own, beside = append(own, share{c.Sure, c.To}), beside || !c.Alone()
	}
	if !beside {
		return all, nil
	}
	made := gitdiff.Merge{Tree: base}
	for _, c := range slices.Backward(own) {
		if made, err = takeOut(ctx, tx, made, share{c.to, c.from}, foreign); err != nil || len(made.Conflicts) > 0 {
			return all, err
		}
	}
	return made.Tree, nil
}

// there sets, for each conflict, the turns of the fork that changed its path.
func there(tx *ledgertx.Tx, point turns.ForkPoint, s *turns.State, conflicts []Conflict) error {
	after := point.Of.Turn
	if t, err := turns.ReadIn(tx.Ledger, after); err == nil && t.Mission != point.Of.Mission {
		after-- // it was forked before that turn, and has its own of that number
	}
	by, err := changedBy(tx, after, s.Turn.Turn, conflicts)
	for i := range by {
		conflicts[i].There = by[i]
	}
	return err
}

// adoption describes an adoption, as a change's What: "adoption of turn a1b2/12".
func adoption(id record.ID, turn int) string {
	return "adoption of turn " + record.TurnID{Mission: id, Turn: turn}.String()
}

// undone returns the adoption after a change was undone or redone, and whether it
// changes. It does not if the change belongs to another adoption.
func undone(m *record.Mission, last *snapshot.Change, at time.Time) (a record.Adoption, news bool) {
	if m.Adopted == nil || !m.Adopted.Commit.IsZero() || last.What != adoption(m.ID, m.Adopted.Turn) {
		return a, false
	}
	a = *m.Adopted
	switch {
	case !last.Undo && !a.Undone && last.At.Equal(a.At):
		a.Undone = true
		return a, true
	case last.Undo && a.Undone:
		a.Undone, a.At = false, at
		return a, true
	}
	return a, false
}
