package checkout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/ledgertx"
	"gitagent/internal/record"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// A Merging says how a merge changes the worktree.
type Merging struct {
	RestorePlan
	Merge bool // write conflicts into the files, both sides between markers
}

// conflicts returns a merge's conflicts, at the paths where they are written
// or, if they are not, where they were.
func (how Merging) conflicts(m gitdiff.Merge) []Conflict {
	var list []Conflict
	for _, c := range m.Conflicts {
		if !how.Merge {
			c.Name = c.Path
		}
		list = append(list, Conflict{Path: c.Name, Holds: c.Holds})
	}
	return list
}

// A Conflict is a path that can't be merged.
type Conflict struct {
	Path  string        // bytes as git has them
	Holds gitdiff.Holds // what is there when conflicts are written
	Later []int         // of a revert: later turns that changed the path, oldest first; see maxLater
	There []int         // of an adoption: the fork's turns that changed it
}

// A ConflictError reports what could not be merged. Nothing was changed.
type ConflictError struct {
	Conflicts []Conflict
	Changes   bool // something would change if the conflicts were written
}

func (e *ConflictError) Error() string {
	var paths []string
	for _, c := range e.Conflicts {
		paths = append(paths, fmt.Sprintf("%q", c.Path))
	}
	return "conflicts in " + strings.Join(paths, ", ")
}

// Revert takes the changes from one state to another, such as a turn's start
// and end, out of the worktree, by a three-way merge with the worktree as it
// is. Where others worked in a turn, its own change is taken out, as far as that
// is sure. Otherwise it is like [Restore].
//
// If the same lines changed since, nothing is done, and the error is a
// [*ConflictError], unless conflicts are to be written into the files. If HEAD
// jumped during the turn, [Restored.Jumped] is set.
func Revert(ctx context.Context, w *workspace.Workspace, at time.Time, from, to *turns.State, how Merging) (*Restored, error) {
	what := Span(from, to)
	from, err := from.Usable(ctx, w)
	if err == nil {
		to, err = to.Usable(ctx, w)
	}
	if err == nil {
		err = cmp.Or(from.Known(), to.Known())
	}
	if err != nil {
		return nil, err
	}
	done := new(Restored)
	err = change(ctx, w, of(ledgertx.Job{Mission: to.In, At: at, What: "revert"}), func(ctx context.Context, tx *ledgertx.Tx) error {
		list, err := shares(tx, from, to)
		if err != nil {
			return err
		}
		merged := gitdiff.Merge{Tree: tx.Snap.Tree}
		for _, p := range list {
			if merged, err = takeOut(ctx, tx, merged, p, how.Foreign); err != nil {
				return err
			}
		}
		done.Conflicts = how.conflicts(merged)
		if err := later(tx, to, done.Conflicts); err != nil {
			return err
		}
		if oneTurn(from, to) {
			done.Jumped, err = jumped(to.Turn, func() (*turns.Turn, error) { return turns.ReadIn(tx.Ledger, to.Turn.Turn-1) },
				func(from, to object.Hash) (bool, error) { return tx.Repo.IsAncestor(ctx, from, to) })
			if err != nil {
				return err
			}
		}
		return done.checkOut(ctx, tx, ledgertx.CheckoutPlan{
			Checkout: how.RestorePlan, Tree: merged.Tree, What: "revert of " + what, Subject: "before reverting " + strings.Replace(what, string(to.In)+"/", "", 1),
		}, how.Merge)
	})
	if err != nil {
		return nil, fmt.Errorf("revert %s: %w", what, err)
	}
	return done, nil
}

// A share is a change to take out: from one commit's tree to another's.
type share struct{ from, to object.Hash }

// shares returns what a revert takes out, the newest change first: all between
// two states or, if these are whole turns and others worked in any of them, each
// turn's own change.
func shares(tx *ledgertx.Tx, from, to *turns.State) ([]share, error) {
	if oneTurn(from, to) {
		own := to.Turn.Change()
		return []share{{own.Sure, own.To}}, nil
	}
	all, beside := []share{{from.Commit, to.Commit}}, false
	if from.In != to.In || from.Within() || to.Within() || from.Saved || to.Saved { // not whole turns of one ledger
		return all, nil
	}
	var own []share
	first, last := after(from), after(to)
	for r, err := range tx.Ledger.Turns() {
		if err != nil {
			return all, nil // a change can't be told apart from that of others
		}
		if r.Number > last {
			continue
		}
		if r.Number <= first {
			break
		}
		t, err := turns.ReadIn(tx.Ledger, r.Number)
		if err != nil {
			return all, nil
		}
		c := t.Change()
		own, beside = append(own, share{c.Sure, c.To}), beside || !c.Alone()
	}
	if !beside {
		return all, nil
	}
	return own, nil
}

// after returns the last turn that had ended by a state.
func after(s *turns.State) int {
	switch {
	case s.Turn == nil:
		return 0
	case s.Start:
		return s.Turn.Turn - 1
	}
	return s.Turn.Turn
}

// takeOut merges the opposite of a change into what a merge has made so far.
func takeOut(ctx context.Context, tx *ledgertx.Tx, so gitdiff.Merge, p share, foreign bool) (gitdiff.Merge, error) {
	theirs, err := tx.Objects.TreeOf(p.from)
	if err != nil {
		return so, err
	}
	base, err := tx.Objects.TreeOf(p.to)
	if err != nil {
		return so, err
	}
	merged, err := tx.Merge(ctx, base, so.Tree, theirs, foreign)
	merged.Conflicts = append(so.Conflicts, merged.Conflicts...)
	return merged, err
}

// Span describes the turns after one state, up to another: "turn a1b2/3",
// "turns a1b2/3..7".
func Span(from, to *turns.State) string {
	if oneTurn(from, to) {
		return to.Describe()
	}
	return "turns " + from.String() + ".." + strings.TrimPrefix(to.String(), string(from.In)+"/")
}

func oneTurn(from, to *turns.State) bool {
	return from.Start && to.Ended() && from.In == to.In && from.Turn.Turn == to.Turn.Turn
}

// jumped reports whether a record begins at the HEAD that the turn ended with
// because HEAD had gone, since the previous turn's end, to a commit that does
// not descend: by a switch or, in a record of version 0.1, in any way.
func jumped(t *turns.Turn, before func() (*turns.Turn, error), descends func(from, to object.Hash) (bool, error)) (bool, error) {
	if t.Head.IsZero() || t.Base != t.Head || t.Turn == 1 {
		return false, nil
	}
	last, err := before()
	switch {
	case errors.Is(err, git.ErrNotFound):
		return false, nil
	case err != nil:
		return false, err
	case last.Head.IsZero() || last.Head == t.Head:
		return false, nil
	}
	does, err := descends(last.Head, t.Head)
	return !does, err
}

func later(tx *ledgertx.Tx, to *turns.State, conflicts []Conflict) error {
	by, err := changedBy(tx, after(to), math.MaxInt, conflicts)
	for i := range by {
		conflicts[i].Later = by[i]
	}
	return err
}

// maxLater is how many of the newest turns are searched for [Conflict.Later].
const maxLater = 1000

// changedBy returns each conflict's turns in a range, oldest first.
func changedBy(tx *ledgertx.Tx, after, until int, conflicts []Conflict) ([][]int, error) {
	by := make([][]int, len(conflicts))
	looked := 0
	for r, err := range tx.Ledger.Turns() {
		if looked++; len(conflicts) == 0 || looked > maxLater || err == nil && r.Number <= after {
			break
		}
		if err != nil || r.Number > until {
			continue // an unreadable turn may have changed anything
		}
		t, err := turns.ReadIn(tx.Ledger, r.Number)
		if err != nil || t.Files == 0 {
			continue
		}
		for i, c := range conflicts {
			if changed, err := changes(tx.Objects, t, c.Path); err != nil {
				return nil, fmt.Errorf("compare turn %s: %w", record.TurnID{Mission: tx.ID, Turn: r.Number}, err)
			} else if changed {
				by[i] = append(by[i], r.Number)
			}
		}
	}
	for _, list := range by {
		slices.Reverse(list)
	}
	return by, nil
}

func changes(objects *git.Objects, t *turns.Turn, path string) (bool, error) {
	var is [2]object.Entry
	own := t.Change()
	for i, commit := range []object.Hash{own.From, own.To} {
		tree, err := objects.TreeOf(commit)
		if err == nil {
			is[i], err = objects.Lookup(tree, path)
		}
		if err != nil {
			return false, err
		}
	}
	return is[0] != is[1], nil
}
