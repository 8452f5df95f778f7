package ledgertx

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/lock"
	"gitagent/internal/workspace"
)

// MoveRefs commits proc, which holds held's file, after noting in held what git
// will lock. The error wraps [git.ErrConflict] if a ref has moved, or if a
// killed git's lock, now removed, was in the way.
func MoveRefs(ctx context.Context, repo *git.Repo, held *lock.Lock, proc *git.RefTransaction, updates []git.Update) error {
	err := repo.Locking(ctx, held, lock.Note{Words: repo.LockedBy(updates)}, func(*git.Repo) error { return proc.Commit(ctx, updates) })
	if err == nil || errors.Is(err, git.ErrConflict) {
		return err
	}
	var own []string // git-agent's refs, which nothing else locks for long; a branch is the user's
	for _, u := range updates {
		if !strings.HasPrefix(u.Ref, "refs/heads/") {
			own = append(own, u.Ref)
		}
	}
	switch locked, e := repo.AwaitLocks(ctx, own...); {
	case e != nil:
		return errors.Join(err, e)
	case locked:
		return fmt.Errorf("git-agent's refs were locked: %w", git.ErrConflict)
	}
	return err
}

// Alone moves refs of held's missions or archive as choose says, which runs
// again after a lost race.
func Alone(ctx context.Context, repo *git.Repo, held *lock.Lock, reason string, choose func() ([]git.Update, error)) error {
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
		return MoveRefs(ctx, repo, held, proc, updates)
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
