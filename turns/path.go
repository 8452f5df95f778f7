package turns

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/workspace"
)

// ErrBackwards reports two states, the first not before the second.
var ErrBackwards = errors.New("the first does not come before the second")

// An ApartError reports a first state not in the mission of the second.
type ApartError struct {
	From, To *State
	Common   *Turn // the last turn of both missions; nil if there is none
}

func (e *ApartError) Error() string {
	return fmt.Sprintf("%s is not on the way to %s", e.From.Describe(), e.To.Describe())
}

// Path returns the states from one to another, in order: those in which turns
// started and ended. So other changes between two turns make a state of their
// own, the start of the second. The first may be of the mission that to's was
// forked from.
//
// It reads the trusted part of the ledger. Unreadable records are left out, as
// unread says. The error wraps [ErrBackwards] or is an [ApartError].
func Path(ctx context.Context, w *workspace.Workspace, from, to *State) (states []*State, unread, err error) {
	objects := w.Repo.Objects(ctx)
	defer objects.Close()
	l, err := ledger.Open(ctx, w.Repo, objects, to.In)
	if err == nil {
		l, err = w.Usable(ctx, objects, l.ID, l.Tip)
	}
	if err != nil {
		return nil, nil, err
	}
	var list []*Turn
	unread = EachIn(objects, l, func(t *Turn) error {
		list = append(list, t)
		return ctx.Err()
	})
	if unread != nil && !errors.As(unread, new(*ledger.UnreadError)) {
		return nil, nil, unread
	}
	slices.Reverse(list)
	if states = pathBetween(list, from, to); len(states) == 0 {
		return nil, unread, noPath(ctx, w.Repo, list, from, to)
	}
	return states, unread, nil
}

// pathBetween is [Path] among these turns; empty if there is none.
func pathBetween(list []*Turn, from, to *State) []*State {
	var all []*State
	for _, t := range list {
		if !t.Base.IsZero() {
			all = append(all, t.Before())
		}
		all = append(all, t.After())
	}
	all = insert(insert(all, from), to)
	end := slices.IndexFunc(all, to.same)
	if end < 0 {
		return nil
	}
	begin := slices.IndexFunc(all, from.same)
	if begin < 0 { // it is in a mission that diverged at the same commit
		for i, s := range all[:end] {
			if s.Commit == from.Commit && s.Known() == nil {
				begin = i
			}
		}
	}
	if begin < 0 || begin >= end {
		return nil
	}
	return all[begin : end+1]
}

// insert puts a saved state after its turn and older saved states.
func insert(all []*State, s *State) []*State {
	if !s.Saved {
		return all
	}
	at := 0
	if s.Turn != nil {
		if at = 1 + slices.IndexFunc(all, s.Turn.After().same); at == 0 {
			return all
		}
	}
	for at < len(all) && all[at].Saved && !all[at].At.After(s.At) {
		at++
	}
	return slices.Insert(all, at, s)
}

// same reports whether two states are one, also from different ledgers.
func (s *State) same(other *State) bool {
	if s.Saved || other.Saved {
		return s.Saved == other.Saved && s.event == other.event
	}
	return s.Start == other.Start && s.Step == other.Step && s.Worktree == other.Worktree && s.Turn.ID() == other.Turn.ID() && s.Commit == other.Commit
}

// noPath returns the reason why there is no path among these turns.
func noPath(ctx context.Context, repo *git.Repo, list []*Turn, from, to *State) error {
	if from.same(to) || len(pathBetween(list, to, from)) > 0 {
		return ErrBackwards
	}
	e := &ApartError{From: from, To: to}
	if from.In == to.In {
		return e
	}
	has := make(map[record.TurnID]bool)
	for _, t := range list {
		has[t.ID()] = true
	}
	err := Each(ctx, repo, from.In, func(t *Turn) error {
		if has[t.ID()] {
			e.Common = t
			return errHalted
		}
		return nil
	})
	if err != nil && !errors.Is(err, errHalted) && !errors.As(err, new(*ledger.UnreadError)) {
		return err
	}
	return e
}
