package transaction

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/lock"
	"gitagent/internal/workspace"
)

// MoveRefs moves refs in a transaction that was begun with the file of held, and notes in held
// which files git is about to lock. The error wraps [git.ErrConflict] if a ref has changed, and if
// a killed git's lock was in the way; it is removed.
func MoveRefs(ctx context.Context, repo *git.Repo, held *lock.Lock, proc *git.RefTransaction, updates []git.Update) error {
	note := lock.Note{At: time.Now(), Words: repo.LockedBy(updates)}
	return held.With(note, func() error {
		err := proc.Commit(ctx, updates)
		if err == nil || errors.Is(err, git.ErrConflict) {
			return err
		}
		if git.Status(err) < 0 { // git was killed, but not this process
			if e := git.DropLeftLocks(ctx, note); e != nil {
				return errors.Join(err, e)
			}
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
	})
}

// Alone moves refs of the missions whose lock is held, or of the archive: choose reads them and says how they
// move, and is called again when it has lost a race.
func Alone(ctx context.Context, repo *git.Repo, held *lock.Lock, reason string, choose func() ([]git.Update, error)) error {
	if err := dropLeftLocks(ctx, held); err != nil {
		return err
	}
	for attempt := 1; ; attempt++ {
		updates, err := choose()
		if err != nil || len(updates) == 0 {
			return err
		}
		proc, err := repo.Holding(held.File()).BeginRefs(ctx, reason)
		if err != nil {
			return err
		}
		err = MoveRefs(ctx, repo, held, proc, updates)
		if err == nil || !errors.Is(err, git.ErrConflict) || attempt == maxAttempts {
			return err
		}
	}
}

// dropLeftLocks removes the git locks that a dead previous holder of held left behind.
func dropLeftLocks(ctx context.Context, held *lock.Lock) error {
	left := held.Left()
	if left.Words == nil {
		return nil
	}
	if err := git.DropLeftLocks(ctx, left); err != nil {
		return fmt.Errorf("remove the locks of a git that was killed: %w", err)
	}
	return held.Done()
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
		errs = append(errs, dropLeftLocks(ctx, held))
		held.Release()
	}
	return errors.Join(errs...)
}
