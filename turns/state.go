package turns

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/workspace"
)

// A State is a state of the worktree that the ledger of a mission keeps: the end of a turn, its start,
// or one that was saved because the worktree was about to be changed.
type State struct {
	In     record.ID // the mission in whose ledger it is
	Commit git.Hash  // whose tree is the worktree
	At     time.Time // when it was recorded
	// Turn is the one that ended or started in the state. For a saved state it is the last one before,
	// nil if there was none.
	Turn  *Turn
	Start bool   // Turn started in it
	Saved bool   // it is neither
	Why   string // of a saved state: the subject of its event, for people to read; a stranger's text

	event git.Hash // of a saved state: the ledger's commit that keeps it
}

// After is the state in which the turn ended.
func (t *Turn) After() *State { return &State{In: t.mission(), Commit: t.Code, At: t.At, Turn: t} }

// Before is the state in which the turn started.
func (t *Turn) Before() *State {
	at := t.Started
	if at.IsZero() {
		at = t.At
	}
	return &State{In: t.mission(), Commit: cmp.Or(t.Base, t.Code), At: at, Turn: t, Start: true}
}

// shownDigits is how many digits of a commit a name has.
const shownDigits = 12

// String is the state's name, for [Find].
func (s *State) String() string {
	switch {
	case s.Saved:
		return s.Commit.String()[:shownDigits]
	case s.Start:
		return record.TurnID{Mission: s.In, Turn: s.Turn.Turn}.String() + "^"
	}
	return record.TurnID{Mission: s.In, Turn: s.Turn.Turn}.String()
}

// Describe says in words what the state is: "turn a1b2c3d4/12", "the start of turn a1b2c3d4/12".
func (s *State) Describe() string {
	switch {
	case s.Saved:
		return "the state " + s.String()
	case s.Start:
		return "the start of turn " + strings.TrimSuffix(s.String(), "^")
	}
	return "turn " + s.String()
}

// Known returns nil if the commit is known to be the state. The error wraps [ErrCodeUnknown].
func (s *State) Known() error {
	if s.Saved {
		return nil
	}
	return s.Turn.CodeKnown()
}

// Usable returns a state that was read as it stands where the user may rely on it. If it does not stand
// there, the error wraps [workspace.ErrStranger]. See [Usable].
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
		case s.Start:
			usable.Commit = t.Before().Commit
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
	reaches, err := w.Repo.Wary().IsAncestor(ctx, s.event, l.Tip)
	if err == nil && !reaches {
		err = fmt.Errorf("%s: %w", s.Describe(), workspace.ErrUntrusted)
	}
	return &usable, err
}

// By names who recorded a state: the turn, or of a saved one the event that keeps it, whoever recorded
// the turn before. See [trust.Writers].
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

// Saved returns the saved states of a mission, the newest first: those of its events that changed
// nothing in its records, and keep a commit.
func Saved(ctx context.Context, repo *git.Repo, id record.ID) ([]*State, error) {
	return SavedLately(ctx, repo, id, math.MaxInt)
}

// SavedLately is [Saved] among the newest of the mission's events, so many.
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

// eventsOf returns the events of a mission, the newest first, at most so many.
// Where the clone is shallow they may end before the first one.
func eventsOf(ctx context.Context, repo *git.Repo, objects *git.Objects, id record.ID, most int) ([]*ledger.CommitEvent, error) {
	tip, err := tipOf(ctx, repo, id)
	if err != nil {
		return nil, err
	}
	var events []*ledger.CommitEvent
	for e, err := range ledger.Events(ctx, repo.Wary(), objects, tip, most) {
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

// saved is the state that an event keeps.
func saved(objects *git.Objects, id record.ID, e *ledger.CommitEvent, commit git.Hash) (*State, error) {
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
