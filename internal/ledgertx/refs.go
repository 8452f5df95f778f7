package ledgertx

import (
	"context"
	"errors"

	"gitagent/internal/git"
	"gitagent/internal/statedir"
	"gitagent/internal/workspace"
)

// Alone moves refs of held's missions or archive as choose says, which runs
// again after a lost race.
func Alone(ctx context.Context, repo *git.Repo, held *statedir.Lock, reason string, choose func() ([]git.Update, error)) error {
	if err := git.DropLeft(ctx, held); err != nil {
		return err
	}
	return git.Retry(git.ErrConflict, func() error {
		updates, err := choose()
		if err != nil || len(updates) == 0 {
			return err
		}
		proc, err := repo.With(git.Holding(held.File())).BeginRefs(ctx, reason)
		if err != nil {
			return err
		}
		return git.MoveRefs(ctx, repo, held, proc, updates)
	})
}

// ClearDead removes the git locks that dead processes of ours left.
func ClearDead(ctx context.Context, w *workspace.Workspace) error {
	entries, err := w.Store.Locks()
	if err != nil {
		return nil // nothing was ever locked
	}
	var errs []error
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || info.Size() == 0 {
			continue
		}
		held, err := w.Store.TryLock(e.Name())
		if held == nil {
			errs = append(errs, err)
			continue
		}
		errs = append(errs, git.DropLeft(ctx, held))
		held.Release()
	}
	return errors.Join(errs...)
}
