package turns

import (
	"context"
	"errors"
	"fmt"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/record"
	"gitagent/internal/trust"
	"gitagent/internal/workspace"
)

// Usable returns the turn as the trusted part of its ledger has it: its code
// and its conversation come from writers that the user trusts, and not from
// later additions. If it is not there, the error wraps
// [workspace.ErrUntrusted].
func Usable(ctx context.Context, w *workspace.Workspace, t *Turn) (*Turn, error) {
	objects := w.Repo.Objects(ctx)
	defer objects.Close()
	l, err := t.OpenLedger(ctx, w.Repo, objects)
	if err == nil {
		l, err = w.Usable(ctx, objects, l.ID, l.Tip)
	}
	if err != nil {
		return nil, err
	}
	usable, err := ReadIn(l, t.Turn)
	if errors.Is(err, git.ErrNotFound) {
		err = fmt.Errorf("turn %s: %w", t.After(), workspace.ErrUntrusted)
	}
	return usable, err
}

// A Writers finds who recorded turns. Its zero value with a workspace is ready.
type Writers struct {
	Workspace *workspace.Workspace
	Objects   *git.Objects // to read with; nil to open them for each mission

	of map[written]*trust.Writers
}

// A written is a mission up to one of its ledger's commits.
type written struct {
	id  record.ID
	tip object.Hash
}

// maxOnRoll is how many missions are remembered, for turns in order of time.
const maxOnRoll = 64

// By returns who recorded a turn.
func (r *Writers) By(ctx context.Context, t *Turn) (string, error) {
	key := written{t.mission(), t.LedgerTip}
	of := r.of[key]
	if of == nil {
		var err error
		if of, err = r.writers(ctx, t); err != nil {
			return "", err
		}
		if r.of == nil || len(r.of) == maxOnRoll {
			r.of = make(map[written]*trust.Writers)
		}
		r.of[key] = of
	}
	return of.Turn(t.Turn), nil
}

func (r *Writers) writers(ctx context.Context, t *Turn) (*trust.Writers, error) {
	objects := r.Objects
	if objects == nil {
		objects = r.Workspace.Repo.Objects(ctx)
		defer objects.Close()
	}
	l, err := t.OpenLedger(ctx, r.Workspace.Repo, objects)
	if err != nil {
		return nil, err
	}
	return r.Workspace.Writers(ctx, objects, l.ID, l.Tip)
}

// In returns the mission whose ledger has the turn: a fork inherits records.
func (t *Turn) In() record.ID { return t.mission() }
