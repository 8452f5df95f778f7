package turns

import (
	"context"
	"errors"
	"fmt"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
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
		err = fmt.Errorf("turn %s: %w", t.ID(), workspace.ErrStranger)
	}
	return usable, err
}

// By names who recorded a turn, see [trust.Writers].
func By(ctx context.Context, w *workspace.Workspace, t *Turn) (string, error) {
	objects := w.Repo.Objects(ctx)
	defer objects.Close()
	l, err := t.ledger(ctx, w.Repo, objects)
	if err != nil {
		return "", err
	}
	writers, err := w.Writers(ctx, objects, l.ID, l.Tip)
	if err != nil {
		return "", err
	}
	return writers.Turn(t.Turn), nil
}

// In is the mission in whose ledger the turn was read. A fork inherits records of its source.
func (t *Turn) In() ledger.ID { return t.mission() }
