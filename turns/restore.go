package turns

import (
	"context"
	"fmt"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/snapshot"
	"gitagent/internal/transaction"
)

// A Checkout says how a restore checks out its tree.
type Checkout = snapshot.Checkout

// A Restored says what a restore has done.
type Restored struct {
	Present git.Hex        // the commit that holds the worktree as it was before; zero in a dry run
	Changes []git.FileStat // what changed, or would
}

// Restore sets the worktree back to the end of a turn. Its present state is recorded first, as a
// code commit kept by the ledger of the turn's mission. HEAD, branch and index are not touched.
//
// If a path to be overwritten or deleted is ignored, was left out of the snapshot, or has changed
// since, nothing changes, and the error is git's. If the turn is a stranger's, the error wraps
// [workspace.ErrStranger].
func (r *Recorder) Restore(ctx context.Context, at time.Time, t *Turn, how Checkout) (*Restored, error) {
	t, err := Usable(ctx, r.Workspace, t)
	if err != nil {
		return nil, err
	}
	var done *Restored
	// A fork inherits turns, and may outlive their mission; so look where the turn was read.
	job := transaction.Of(transaction.Job{Mission: t.mission(), At: at, What: "restore"})
	err = transaction.Worktree(ctx, r.Workspace, func() error {
		return transaction.Run(ctx, r.Workspace, job, func(ctx context.Context, tx *transaction.Tx) (err error) {
			done, err = restore(ctx, tx, t, how)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("restore turn %s: %w", t.ID(), err)
	}
	return done, nil
}

func restore(ctx context.Context, tx *transaction.Tx, t *Turn, how Checkout) (*Restored, error) {
	if err := tx.Look(ctx, true); err != nil {
		return nil, err
	}
	if tx.Ledger == nil {
		return nil, git.ErrNotFound
	}
	tree, err := tx.Objects.TreeOf(t.Code.Hash())
	if err != nil {
		return nil, err
	}
	done := new(Restored)
	if done.Changes, err = tx.Repo.DiffPaths(ctx, tx.Snap.Tree, tree); err != nil {
		return nil, err
	}
	if how.Dry {
		return done, tx.Snap.CheckOut(ctx, tree, how)
	}
	subject := fmt.Sprintf("before restoring turn %d", t.Turn)
	base, err := tx.Head(ledger.CodeMessage("before the first commit", tx.ID, 0, ""))
	if err != nil {
		return nil, err
	}
	s := start{base: base, head: tx.Snap.Head.Commit}
	present, fresh, err := commit(tx, s, false, ledger.CodeMessage(subject, tx.ID, 0, ""))
	if err == nil && fresh {
		err = tx.Append(subject, nil, present)
	}
	if err == nil {
		err = tx.Commit(ctx)
	}
	if err != nil {
		return nil, err
	}
	done.Present = git.Hex(present)
	return done, tx.Snap.CheckOut(ctx, tree, how)
}
