package turns

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
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/workspace"
)

// A State is a worktree's state that a mission's ledger keeps: the end of a
// turn, its start, or one saved before the worktree was changed.
type State struct {
	In     record.ID   // the mission in whose ledger it is
	Commit object.Hash // whose tree is the worktree
	At     time.Time   // when it was recorded
	// Turn ended or started in it, or came before a saved state; then it may be
	// nil.
	Turn     *Turn
	Start    bool   // Turn started in it
	Step     int    // the one within Turn that it is, from 1; else 0
	Call     string // the last call of a tool before it; untrusted text, "" if unknown
	Worktree string // the one of Turn that it is of, instead of the session's own
	Saved    bool   // neither start nor end
	Why      string // of a saved state: its event's subject; untrusted text

	event object.Hash // of a saved state: the ledger's commit that keeps it
}

// After returns the state in which the turn ended.
func (t *Turn) After() *State { return &State{In: t.mission(), Commit: t.Code, At: t.At, Turn: t} }

// Ended reports whether it is the state in which Turn ended.
func (s *State) Ended() bool { return !s.Start && !s.Saved && !s.Within() }

// Before returns the state in which the turn started.
func (t *Turn) Before() *State {
	at := t.Started
	if at.IsZero() {
		at = t.At
	}
	return &State{In: t.mission(), Commit: cmp.Or(t.Base, t.Code), At: at, Turn: t, Start: true}
}

const shownDigits = 12

// String returns the state's name, for [Find].
func (s *State) String() string {
	switch {
	case s.Saved:
		return s.Commit.String()[:shownDigits]
	case s.Worktree != "":
		name := fmt.Sprintf("%s:%s", record.TurnID{Mission: s.In, Turn: s.Turn.Turn}, s.Worktree)
		if s.Start {
			name += "^"
		}
		return name
	case s.Start:
		return record.TurnID{Mission: s.In, Turn: s.Turn.Turn}.String() + "^"
	case s.Step > 0:
		return fmt.Sprintf("%s.%d", record.TurnID{Mission: s.In, Turn: s.Turn.Turn}, s.Step)
	}
	return record.TurnID{Mission: s.In, Turn: s.Turn.Turn}.String()
}

// Describe returns "turn a1b2c3d4/12", "the start of turn a1b2c3d4/12" or such.
func (s *State) Describe() string {
	switch {
	case s.Saved:
		return "the state " + s.String()
	case s.Worktree != "":
		return "worktree " + s.String()
	case s.Start:
		return "the start of turn " + strings.TrimSuffix(s.String(), "^")
	case s.Step > 0:
		return "step " + s.String()
	}
	return "turn " + s.String()
}

// ErrBaseUnknown reports a turn of which nothing told that it began, and of which
// no state before is known. The commit of such a start is the turn's end, so that
// nothing is said to be the turn's.
var ErrBaseUnknown = errors.New("base unknown: nothing told that the turn began")

// BaseOf names the commit in which a turn began, for people.
func BaseOf(t *Turn) string {
	if t.Base.IsZero() {
		return "unknown: nothing told that it began"
	}
	return t.Base.String()
}

// Known returns nil if the commit is known to be the state, else an error
// wrapping [ErrCodeUnknown] or [ErrBaseUnknown].
func (s *State) Known() error {
	if s.Saved {
		return nil
	}
	if s.Start && s.Worktree == "" && s.Turn.Base.IsZero() {
		return fmt.Errorf("%s: %w", s.Describe(), ErrBaseUnknown)
	}
	return s.Turn.CodeKnown()
}

// Usable returns the state as the trusted part of the ledger has it. If it does
// not, the error wraps [workspace.ErrUntrusted]. See [Usable].
func (s *State) Usable(ctx context.Context, w *workspace.Workspace) (*State, error) {
	usable := *s
	if s.Turn != nil {
		t, err := Usable(ctx, w, s.Turn)
		if err != nil {
			return nil, err
		}
		usable.Turn = t
		switch {
		case s.Saved:
		case s.Worktree != "":
			in, err := t.Worktree(s.Worktree, s.Start)
			if err != nil {
				return nil, err
			}
			usable.Commit = in.Commit
		case s.Start:
			usable.Commit = t.Before().Commit
		case s.Step > 0:
			step, err := t.stepIn(ctx, w, s.In, s.Step)
			if err != nil {
				return nil, err
			}
			usable.Commit, usable.Call = step.Commit, step.Call
		default:
			usable.Commit = t.Code
		}
	}
	if !s.Saved {
		return &usable, nil
	}
	objects := w.Repo.Objects(ctx)
	defer objects.Close()
	l, err := ledger.Open(ctx, w.Repo, objects, s.In)
	if err == nil {
		l, err = w.Usable(ctx, objects, l.ID, l.Tip)
	}
	if err != nil {
		return nil, err
	}
	reaches, err := w.Repo.With(git.Wary).IsAncestor(ctx, s.event, l.Tip)
	if err == nil && !reaches {
		err = fmt.Errorf("%s: %w", s.Describe(), workspace.ErrUntrusted)
	}
	return &usable, err
}

// By returns who recorded the turn or the saved state, see [trust.Writers].
func (s *State) By(ctx context.Context, w *workspace.Workspace) (string, error) {
	if !s.Saved {
		return (&Writers{Workspace: w}).By(ctx, s.Turn)
	}
	objects := w.Repo.Objects(ctx)
	defer objects.Close()
	l, err := ledger.Open(ctx, w.Repo, objects, s.In)
	if err != nil {
		return "", err
	}
	writers, err := w.Writers(ctx, objects, l.ID, l.Tip)
	if err != nil {
		return "", err
	}
	return writers.Commit(s.event), nil
}

// Saved returns a mission's saved states, newest first, from events that keep a
// commit and change no record.
func Saved(ctx context.Context, repo *git.Repo, id record.ID) ([]*State, error) {
	return SavedLately(ctx, repo, id, math.MaxInt)
}

// SavedLately is [Saved] among the newest most events.
func SavedLately(ctx context.Context, repo *git.Repo, id record.ID, most int) ([]*State, error) {
	objects := repo.Objects(ctx)
	defer objects.Close()
	events, err := eventsOf(ctx, repo, objects, id, most)
	if err != nil {
		return nil, err
	}
	var list []*State
	for i, e := range events {
		if len(e.Keeps) == 0 || i+1 == len(events) || e.Tree != events[i+1].Tree {
			continue
		}
		s, err := saved(objects, id, e, e.Keeps[0])
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// eventsOf returns a mission's events, newest first, at most as many as most. A
// shallow clone may lack the oldest.
func eventsOf(ctx context.Context, repo *git.Repo, objects *git.Objects, id record.ID, most int) ([]*ledger.CommitEvent, error) {
	tip, err := tipOf(ctx, repo, id)
	if err != nil {
		return nil, err
	}
	var events []*ledger.CommitEvent
	for e, err := range ledger.Events(ctx, repo.With(git.Wary), objects, tip, most) {
		if err != nil {
			if shallow, _ := repo.Shallow(); len(events) > 0 && slices.Contains(shallow, events[len(events)-1].Hash) {
				break
			}
			return nil, err
		}
		events = append(events, e)
	}
	return events, nil
}

func saved(objects *git.Objects, id record.ID, e *ledger.CommitEvent, commit object.Hash) (*State, error) {
	l, err := ledger.At(objects, id, e.Hash)
	if err != nil {
		return nil, err
	}
	last, err := Last(l)
	if err != nil {
		return nil, err
	}
	return &State{In: id, Commit: commit, At: e.At, Turn: last, Saved: true, Why: e.Subject, event: e.Hash}, nil
}
