package recorder

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"time"

	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/ledgertx"
	"gitagent/internal/limit"
	"gitagent/internal/record"
	"gitagent/internal/statedir"
	"gitagent/internal/workspace"
)

// Try does what [Record] does at the first turn of a session, with the same
// locks, snapshot and transaction, but for a mission that is never made: git
// locks its refs, and gives them up. It returns what the snapshot leaves out. An
// error is why turns are not recorded. What stays is git's garbage, and local
// state if there was some before.
func Try(ctx context.Context, w *workspace.Workspace, at time.Time) (skipped []record.Skip, err error) {
	ctx, cancel := limit.Within(ctx, limit.Of(ctx).Record)
	defer cancel()
	for _, dir := range []*statedir.Dir{w.Store.Dir(), statedir.In(w.Repo.GitDir, "agent")} {
		if _, err := dir.Lstat("."); errors.Is(err, fs.ErrNotExist) {
			defer func() {
				if !w.Store.Enabled() && len(w.Store.Recent(1)) == 0 { // else there is a session meanwhile
					_ = dir.RemoveAll(".")
				}
			}()
		}
	}
	if err := w.Store.Probe(); err != nil {
		return nil, err
	}
	if err := w.Repo.Access(); err != nil { // also of what only some turns need: missions share the files of locks
		return nil, err
	}
	id, err := record.OfSession(rand.Text(), 12)
	if err != nil {
		return nil, err
	}
	job := ledgertx.Of(ledgertx.Job{Mission: id, At: at, What: "tried"})
	err = ledgertx.Worktree(ctx, w, func() error {
		return ledgertx.Run(ctx, w, job, func(ctx context.Context, tx *ledgertx.Tx) error {
			if _, err := tx.Repo.HeadRef(ctx); err != nil {
				return err
			}
			if err := tx.Look(ctx, false); err != nil {
				return err
			}
			skipped = tx.Snap.Skipped
			head, err := tx.Head(ledger.CodeMessage("before the first commit", id, 0, ""))
			if err != nil {
				return err
			}
			code, err := tx.CommitTree(tx.Snap.Tree, []object.Hash{head}, ledger.CodeMessage("tried", id, 0, ""))
			if err != nil {
				return err
			}
			tx.Begin(&record.Mission{Created: tx.At})
			if err := tx.Append("tried", nil, code); err != nil {
				return err
			}
			return tx.Try(ctx)
		})
	})
	return skipped, err
}
