package turns

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gitagent/hooks"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/journal"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/workspace"
)

// A Step is a state of the worktree that was seen within a turn.
type Step struct {
	Number int // within the turn, from 1
	At     time.Time
	Kept   object.Hash // the commit by which the ledger keeps it, zero if it doesn't

	// Of the journal of this worktree, if that still has the turn.
	Session string // whose calls it came after
	Calls   []journal.Call
	Before  bool        // it was seen before a call, not after one
	Tree    object.Hash // zero if it can't be had from here

	// Changed is what differs from the state before or, of a kept step without a
	// journal, from the kept one before.
	Changed []gitdiff.FileStat
}

// Had reports whether the step can still be had.
func (s *Step) Had() bool { return !s.Tree.IsZero() }

// Steps returns the steps of a turn: those that its ledger keeps, and all that
// this worktree's journal still has.
func (t *Turn) Steps(ctx context.Context, w *workspace.Workspace) ([]Step, error) {
	objects := w.Repo.Objects(ctx)
	defer objects.Close()
	kept, err := t.KeptSteps(objects)
	if err != nil {
		return nil, err
	}
	seen, err := t.journal(w, objects)
	if err != nil {
		return nil, err
	}
	last, err := objects.TreeOf(t.Before().Commit)
	if err != nil {
		return nil, err
	}
	var list []Step
	for n := 1; n <= max(len(seen), t.steps()); n++ {
		s := Step{Number: n, Kept: kept[n]}
		if n <= len(seen) {
			e := seen[n-1]
			s.At, s.Session, s.Calls, s.Before, s.Tree = time.UnixMilli(e.At), e.Session, e.Calls, e.Before, e.Tree
		}
		if !s.Kept.IsZero() {
			if s.Tree, err = objects.TreeOf(s.Kept); err != nil {
				return nil, err
			}
		}
		if s.Had() {
			if s.Changed, err = changedIn(ctx, w.Repo, objects, last, s.Tree); err != nil {
				return nil, err
			}
			if s.Changed == nil && last != s.Tree {
				s.Tree = object.Hash{} // nothing keeps it
			} else {
				last = s.Tree
			}
		}
		list = append(list, s)
	}
	return list, nil
}

// changedIn compares two trees; nil if objects of them are gone.
func changedIn(ctx context.Context, repo *git.Repo, objects *git.Objects, from, to object.Hash) ([]gitdiff.FileStat, error) {
	changed, counted, err := gitdiff.Stat(objects, from, to)
	if err == nil && !counted {
		changed, err = gitdiff.Shown(ctx, repo, from, to)
		if e := (*git.Error)(nil); errors.As(err, &e) && ctx.Err() == nil {
			return nil, nil
		}
	}
	if git.Lost(err) {
		return nil, nil
	}
	return changed, err
}

// steps is how many steps the turn's record knows of.
func (t *Turn) steps() int {
	if !t.Own.Holds(t.Code) {
		return 0
	}
	return max(0, min(t.Own.Steps, record.MaxSteps))
}

// journal returns what this worktree's journal has of the turn's steps; none if
// it hasn't all of them, or if the turn was in another worktree.
func (t *Turn) journal(w *workspace.Workspace, objects *git.Objects) ([]*journal.Entry, error) {
	if w.Repo.GitDir == "" {
		return nil, nil
	}
	during, err := journal.During(w.Repo, t.Session, t.PromptID, t.Before().At)
	if err != nil || during.Began.IsZero() {
		return nil, err
	}
	if base, err := objects.TreeOf(t.Before().Commit); err != nil || base != during.Began {
		return nil, err
	}
	var seen []*journal.Entry
	for _, e := range during.Seen {
		if e.At > t.At.UnixMilli() || e.Event == journal.Stop && e.Session == t.Session {
			break
		}
		if !e.Tree.IsZero() {
			seen = append(seen, e)
		}
	}
	if n := t.steps(); n > 0 && n != len(seen) {
		return nil, nil // of another worktree, or older ones are gone
	}
	return seen, nil
}

// KeptSteps returns the commits of the steps that the turn's ledger keeps, by
// their numbers.
func (t *Turn) KeptSteps(objects *git.Objects) (map[int]object.Hash, error) {
	if !t.Own.Holds(t.Code) || t.Own.Last.IsZero() {
		return nil, nil
	}
	kept := make(map[int]object.Hash)
	at := t.Own.Last
	for i, n := range slices.Backward(t.Own.Kept) {
		kept[n] = at
		if i == 0 {
			break
		}
		parents, err := objects.Parents(at)
		if err == nil && len(parents) == 0 {
			err = fmt.Errorf("commit %s has no parent", at)
		}
		if err != nil {
			return nil, fmt.Errorf("read step %s: %w", t.step(n), err)
		}
		at = parents[0]
	}
	return kept, nil
}

func (t *Turn) step(n int) *State {
	return &State{In: t.mission(), At: t.At, Turn: t, Step: n}
}

// stepIn returns a step of a turn. One that only the journal has gets a commit,
// which nothing keeps. The error wraps [git.ErrNotFound] if it is gone.
func (t *Turn) stepIn(ctx context.Context, w *workspace.Workspace, in record.ID, n int) (*State, error) {
	steps, err := t.Steps(ctx, w)
	if err != nil {
		return nil, err
	}
	return t.stepOf(ctx, w, in, steps, n)
}

// stepOf is stepIn for one of the turn's steps.
func (t *Turn) stepOf(ctx context.Context, w *workspace.Workspace, in record.ID, steps []Step, n int) (*State, error) {
	s := t.step(n)
	s.In = in
	if n > len(steps) {
		return nil, &MissingError{What: s.Describe(), Nearest: t.nearest(steps)}
	}
	step := steps[n-1]
	if !step.At.IsZero() {
		s.At = step.At
	}
	objects := w.Repo.Objects(ctx)
	defer objects.Close()
	if s.Commit = step.Kept; !s.Commit.IsZero() {
		c, err := objects.Commit(s.Commit)
		if err != nil {
			return nil, err
		}
		s.Call = ledger.StepCall(c.Message)
		return s, nil
	}
	if step.Tree.IsZero() {
		return nil, &MissingError{What: s.Describe() + ", which was not kept", Nearest: t.nearest(steps)}
	}
	if step.Session == t.Session {
		s.Call = LastCall(step.Calls)
	}
	conf, err := w.Repo.Config(ctx)
	if err != nil {
		return nil, err
	}
	message := ledger.StepMessage(in, t.Turn, n, t.Session, s.Call)
	if s.Commit, err = objects.CommitTree(step.Tree, []object.Hash{t.Before().Commit}, conf.Author(s.At), conf.Committer(s.At), message); err == nil {
		err = objects.Flush()
	}
	if git.Lost(err) {
		err = &MissingError{What: s.Describe() + ", whose objects were collected", Nearest: t.nearest(steps)}
	}
	return s, err
}

// StepStates returns the steps of the turn that can be had, in order.
func (t *Turn) StepStates(ctx context.Context, w *workspace.Workspace) ([]*State, error) {
	steps, err := t.Steps(ctx, w)
	if err != nil {
		return nil, err
	}
	var list []*State
	for _, step := range steps {
		if step.Had() {
			s, err := t.stepOf(ctx, w, t.mission(), steps, step.Number)
			if err != nil {
				return nil, err
			}
			list = append(list, s)
		}
	}
	return list, nil
}

// LastCall returns the id of the last call of a batch, "" if it has none that
// can stand in a commit's message.
func LastCall(calls []journal.Call) string {
	if n := len(calls); n > 0 && hooks.ValidID(calls[n-1].ID) {
		return calls[n-1].ID
	}
	return ""
}

// nearest names the steps that are there.
func (t *Turn) nearest(steps []Step) []string {
	var names []string
	for _, s := range steps {
		if len(names) < maxSuggested && s.Had() {
			names = append(names, t.step(s.Number).String())
		}
	}
	return names
}
