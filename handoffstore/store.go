package handoffstore

import (
	"context"
	"time"

	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/ledgertx"
	"gitagent/internal/record"
	"gitagent/internal/workspace"
)

// A Store keeps the handoffs of a repository, seen from one of its worktrees.
type Store struct {
	*workspace.Workspace
}

// A writing is one attempt to add an event to a mission's ledger.
type writing struct {
	*ledgertx.Tx
	store *Store
}

// write runs f, which commits an event, until it loses no race; what is for
// reflogs. publish says that f will change the worktree.
func (s *Store) write(ctx context.Context, id record.ID, at time.Time, what string, publish bool, f func(context.Context, *writing) error) error {
	job := ledgertx.Of(ledgertx.Job{Mission: id, At: at, What: what})
	return ledgertx.Worktree(ctx, s.Workspace, func() error {
		return ledgertx.Run(ctx, s.Workspace, job, func(ctx context.Context, tx *ledgertx.Tx) error {
			if err := tx.Look(ctx, publish); err != nil {
				return err
			}
			return f(ctx, &writing{tx, s})
		})
	})
}

// headTree returns HEAD's tree, the empty one on an unborn branch.
func (w *writing) headTree() (object.Hash, error) {
	if w.Snap.Head.Commit.IsZero() {
		return w.Objects.EmptyTree()
	}
	return w.Objects.TreeOf(w.Snap.Head.Commit)
}

// uncommitted returns a commit of the worktree on HEAD, zero if they are equal.
func (w *writing) uncommitted(subject, session string) (object.Hash, error) {
	tree, err := w.headTree()
	if err != nil || tree == w.Snap.Tree {
		return object.Hash{}, err
	}
	var parents []object.Hash
	if head := w.Snap.Head.Commit; !head.IsZero() {
		parents = append(parents, head)
	}
	return w.CommitTree(w.Snap.Tree, parents, ledger.CodeMessage(subject, w.ID, 0, session))
}
