package turns

import (
	"context"
	"errors"
	"fmt"

	"gitagent/internal/git"
	"gitagent/internal/record"
	"gitagent/internal/trust"
	"gitagent/internal/workspace"
)

// Usable returns a turn that was read as it stands where the user may rely on it: in the usable part
// of its mission's ledger. Its code, its conversation and those before it are what was recorded by
// somebody whom the user trusts, whatever was added later. If the turn does not stand there, the
// error wraps [workspace.ErrStranger].
func Usable(ctx context.Context, w *workspace.Workspace, t *Turn) (*Turn, error) {
	objects := w.Repo.Objects(ctx)
	defer objects.Close()
	l, err := t.ledger(ctx, w.Repo, objects)
	if err == nil {
		l, err = w.Usable(ctx, objects, l.ID, l.Tip)
	}
	if err != nil {
		return nil, err
	}
	usable, err := readTurn(l, t.Turn)
	if errors.Is(err, git.ErrNotFound) {
		err = fmt.Errorf("turn %s: %w", t.After(), workspace.ErrUntrusted)
	}
	return usable, err
}

// A Roll names who recorded turns, see [trust.Writers]. The zero value with a workspace is ready.
type Writers struct {
	Workspace *workspace.Workspace
	Objects   *git.Objects // to read with; nil to open some for each mission

	of      map[written]*trust.Writers
	trusted map[written]bool
}

// written is what has been written of a mission, up to one of its ledger's commits.
type written struct {
	id  record.ID
	tip git.Hash
}

// maxOnRoll is how many missions are remembered: turns by time come from several in turn.
const maxOnRoll = 64

// By names who recorded a turn.
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

// Trusted reports whether the user may rely on all of the mission that a turn was read in.
func (r *Writers) Trusted(ctx context.Context, t *Turn) (bool, error) {
	key := written{t.mission(), t.LedgerTip}
	if trusted, known := r.trusted[key]; known {
		return trusted, nil
	}
	objects := r.Objects
	if objects == nil {
		objects = r.Workspace.Repo.Objects(ctx)
		defer objects.Close()
	}
	l, err := t.ledger(ctx, r.Workspace.Repo, objects)
	if err != nil {
		return false, err
	}
	s, err := r.Workspace.TrustLevel(ctx, objects, l.ID, l.Tip)
	if err != nil {
		return false, err
	}
	if r.trusted == nil || len(r.trusted) == maxOnRoll {
		r.trusted = make(map[written]bool)
	}
	r.trusted[key] = s.Whole
	return s.Whole, nil
}

func (r *Writers) writers(ctx context.Context, t *Turn) (*trust.Writers, error) {
	objects := r.Objects
	if objects == nil {
		objects = r.Workspace.Repo.Objects(ctx)
		defer objects.Close()
	}
	l, err := t.ledger(ctx, r.Workspace.Repo, objects)
	if err != nil {
		return nil, err
	}
	return r.Workspace.Writers(ctx, objects, l.ID, l.Tip)
}

// In is the mission in whose ledger the turn was read. A fork inherits records of its source.
func (t *Turn) In() record.ID { return t.mission() }
