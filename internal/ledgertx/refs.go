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

// MoveRefs moves refs in a transaction that was begun with the file of held, and notes in held
// which files git is about to lock. The error wraps [git.ErrConflict] if a ref has changed, and if
// a killed git's lock was in the way; it is removed.
func MoveRefs(ctx context.Context, repo *git.Repo, held *lock.Lock, proc *git.RefTransaction, updates []git.Update) error {
	err := repo.Locking(ctx, held, lock.Note{Words: repo.LockedBy(updates)}, func(*git.Repo) error { return proc.Commit(ctx, updates) })
	if err == nil || errors.Is(err, git.ErrConflict) {
		return err
	}
	var own []string // git-agent's own refs, which nobody else locks for long; a branch is the user's
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

// Alone moves refs of the missions whose lock is held, or of the archive: choose reads them and says how they
// move, and is called again when it has lost a race.
func Alone(ctx context.Context, repo *git.Repo, held *lock.Lock, reason string, choose func() ([]git.Update, error)) error {
	if err := git.DropLeft(ctx, held); err != nil {
		return err
	}
	return git.Retry(git.ErrConflict, func() error {
		updates, err := choose()
		if err != nil || len(updates) == 0 {
			return err
		}
		proc, err := repo.Holding(held.File()).BeginRefs(ctx, reason)
		if err != nil {
			return err
		}
		return MoveRefs(ctx, repo, held, proc, updates)
	})
}

// ClearDead removes all git locks that dead processes of ours left behind.
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
