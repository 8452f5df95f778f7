package handoffstore

import (
	"context"
	"fmt"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/ledgertx"
	"gitagent/internal/snapshot"
	"gitagent/internal/workspace"
)

// A RestorePlan says how a restore checks out its tree.
type RestorePlan = snapshot.Checkout

// A Restored says what a restore has done.
type Restored struct {
	ledgertx.CheckedOut
	Conflicts []gitdiff.Conflict // what their files hold now, or would
}

// Restore merges a handoff's uncommitted changes into this worktree, based on
// the HEAD of then. It first records the present state in the mission's ledger.
// HEAD, branch and index stay. Files with conflicts get git's markers, if
// possible, and are reported. If a path to be overwritten or deleted is ignored
// or was not recorded, nothing changes, and the error says so. The error for an
// untrusted handoff wraps [workspace.ErrUntrusted].
func (s *Store) Restore(ctx context.Context, f *Found, at time.Time, how RestorePlan) (*Restored, error) {
	if f.Stash.IsZero() {
		return nil, fmt.Errorf("restore handoff %s: it left nothing uncommitted: %w", f.ID(), git.ErrNotFound)
	}
	switch trusted, err := s.Trusted(ctx, f); {
	case err != nil:
		return nil, err
	case !trusted:
		return nil, fmt.Errorf("restore handoff %s: %w", f.ID(), workspace.ErrUntrusted)
	}
	var done *Restored
	err := s.write(ctx, f.In, at, "restore", true, func(ctx context.Context, w *writing) (err error) {
		done, err = w.restore(ctx, f, how)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("restore handoff %s: %w", f.ID(), err)
	}
	return done, nil
}

func (w *writing) restore(ctx context.Context, f *Found, how RestorePlan) (*Restored, error) {
	if w.Ledger == nil {
		return nil, git.ErrNotFound
	}
	base, theirs, err := w.left(f.Stash)
	if err != nil {
		return nil, err
	}
	merged, err := w.Merge(ctx, base, w.Snap.Tree, theirs, how.Foreign)
	if err != nil {
		return nil, err
	}
	done, err := w.CheckOut(ctx, ledgertx.CheckoutPlan{
		Checkout: how, Tree: merged.Tree, What: "restore of handoff " + f.ID().String(), Subject: fmt.Sprintf("before restoring handoff %d", f.Number),
	})
	if err != nil {
		return nil, err
	}
	return &Restored{*done, merged.Conflicts}, nil
}

// left returns the trees of a stash's parent and of the stash.
func (w *writing) left(stash object.Hash) (base, left object.Hash, err error) {
	c, err := w.Objects.Commit(stash)
	if err != nil {
		return base, left, err
	}
	if len(c.Parents) == 0 { // made before the first commit
		base, err = w.Objects.EmptyTree()
	} else {
		base, err = w.Objects.TreeOf(c.Parents[0])
	}
	return base, c.Tree, err
}
