package checkout

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/ledgertx"
	"gitagent/internal/snapshot"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// A RestorePlan says how the worktree is changed.
type RestorePlan = snapshot.Checkout

// A Restored is the result of a restore, a revert or an undo.
type Restored struct {
	ledgertx.CheckedOut
	Conflicts []Conflict // written into the files, where these have a place for both sides, or to be written
	Jumped    bool       // HEAD jumped during the reverted turn, whose commits stay
}

// Restore sets the worktree, or only some paths, back to a state. The current
// state is recorded first, as a code commit that the ledger of that state's
// mission keeps. HEAD, branch and index stay.
//
// If a path to overwrite or delete is ignored, was left out of the snapshot, or
// has changed since, nothing changes, and the error is git's. Other errors wrap
// [workspace.ErrUntrusted] if the state is untrusted, [git.ErrNotFound] if only
// matches nothing, and [turns.ErrCodeUnknown] if the code is unknown.
func Restore(ctx context.Context, w *workspace.Workspace, at time.Time, s *turns.State, only gitdiff.Paths, how RestorePlan) (*Restored, error) {
	what := s.Describe()
	s, err := s.Usable(ctx, w)
	if err == nil {
		err = s.Known()
	}
	if err != nil {
		return nil, err
	}
	done := new(Restored)
	// Inherited turns may outlive their mission: use the ledger they are from.
	err = change(ctx, w, of(ledgertx.Job{Mission: s.In, At: at, What: "restore"}), func(ctx context.Context, tx *ledgertx.Tx) error {
		tree, err := tx.Objects.TreeOf(s.Commit)
		if err == nil && len(only.Specs) > 0 {
			tree, err = part(ctx, tx, tree, only)
		}
		if err != nil {
			return err
		}
		err = done.checkOut(ctx, tx, ledgertx.CheckoutPlan{
			Checkout: how, Tree: tree, What: "restore of " + what, Subject: "before restoring " + short(s),
		}, false)
		if err != nil || len(only.Specs) == 0 || len(done.Unseen) == 0 {
			return err
		}
		none, err := tx.Objects.EmptyTree()
		if err != nil {
			return err
		}
		named, err := gitdiff.Changed(ctx, tx.Repo, none, tx.Snap.Tree, only)
		done.Unseen = slices.DeleteFunc(done.Unseen, func(u snapshot.Unseen) bool {
			for p := range named {
				if p == u.Path || strings.HasSuffix(u.Path, "/") && strings.HasPrefix(p, u.Path) {
					return false
				}
			}
			return true
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("restore %s: %w", what, err)
	}
	return done, nil
}

// short describes the state without its mission: "turn 12".
func short(s *turns.State) string { return strings.Replace(s.Describe(), string(s.In)+"/", "", 1) }

// change runs f, which ends with a checkout, in a mission after a snapshot.
func change(ctx context.Context, w *workspace.Workspace, choose func() (ledgertx.Job, error), f func(context.Context, *ledgertx.Tx) error) error {
	return ledgertx.Worktree(ctx, w, func() error {
		job, err := choose()
		if err != nil {
			return err
		}
		return ledgertx.Run(ctx, w, ledgertx.Of(job), func(ctx context.Context, tx *ledgertx.Tx) error {
			if err := tx.Look(ctx, true); err != nil {
				return err
			}
			if tx.Ledger == nil {
				return fmt.Errorf("mission %s: %w", tx.ID, git.ErrNotFound)
			}
			return f(ctx, tx)
		})
	})
}

func of(j ledgertx.Job) func() (ledgertx.Job, error) {
	return func() (ledgertx.Job, error) { return j, nil }
}

// checkOut ends a transaction. Conflicts prevent it unless merge is set.
func (d *Restored) checkOut(ctx context.Context, tx *ledgertx.Tx, c ledgertx.CheckoutPlan, merge bool) error {
	if len(d.Conflicts) > 0 && !merge {
		return &ConflictError{d.Conflicts, c.Tree != tx.Snap.Tree}
	}
	done, err := tx.CheckOut(ctx, c)
	if err == nil {
		d.CheckedOut = *done
	}
	return err
}

// part returns the worktree's tree with the paths as another tree has them.
// Each spec must match something in one of the two.
func part(ctx context.Context, tx *ledgertx.Tx, tree object.Hash, only gitdiff.Paths) (object.Hash, error) {
	unsure, err := unseen(ctx, tx, tree, only)
	if err != nil {
		return object.Hash{}, err
	}
	for _, spec := range unsure {
		named, err := names(ctx, tx, tree, gitdiff.Paths{Dir: only.Dir, Specs: []string{spec}})
		if err != nil {
			return object.Hash{}, err
		}
		if !named {
			return object.Hash{}, fmt.Errorf("%q names nothing, there or here: %w", spec, git.ErrNotFound)
		}
	}
	changes, err := gitdiff.Changed(ctx, tx.Repo, tx.Snap.Tree, tree, only)
	if err != nil || len(changes) == 0 {
		return tx.Snap.Tree, err
	}
	return tx.Objects.EditTree(tx.Snap.Tree, changes)
}

// unseen returns the pathspecs that are not plainly names in a tree or the
// worktree, with a git or two for all. Specs that exclude need not match.
func unseen(ctx context.Context, tx *ledgertx.Tx, tree object.Hash, only gitdiff.Paths) ([]string, error) {
	prefix := ""
	if dir, err := filepath.Abs(only.Dir); err == nil && only.Dir != "" {
		if dir, err = filepath.EvalSymlinks(dir); err == nil {
			prefix, _ = filepath.Rel(tx.Repo.Top, dir)
		}
	}
	left := slices.DeleteFunc(slices.Clone(only.Specs), gitdiff.Excludes)
	none, err := tx.Objects.EmptyTree()
	for _, there := range []object.Hash{tree, tx.Snap.Tree} {
		if err != nil || len(left) == 0 {
			break
		}
		var found map[string]object.Entry
		found, err = gitdiff.Changed(ctx, tx.Repo, none, there, gitdiff.Paths{Dir: only.Dir, Specs: left})
		seen := make(map[string]bool) // directories with and without a final slash
		for p := range found {
			for seen[p] = true; p != "." && !seen[path.Dir(p)+"/"]; p = path.Dir(p) {
				seen[path.Dir(p)], seen[path.Dir(p)+"/"] = true, true
			}
		}
		left = slices.DeleteFunc(left, func(spec string) bool {
			name := path.Join(filepath.ToSlash(prefix), spec)
			if strings.HasSuffix(spec, "/") {
				name += "/"
			}
			return seen[name] && !strings.HasPrefix(spec, ":") && !strings.ContainsAny(spec, `*?[\`)
		})
	}
	return left, err
}

func names(ctx context.Context, tx *ledgertx.Tx, tree object.Hash, spec gitdiff.Paths) (bool, error) {
	none, err := tx.Objects.EmptyTree()
	for _, there := range []object.Hash{tree, tx.Snap.Tree} {
		var found map[string]object.Entry
		if err == nil {
			found, err = gitdiff.Changed(ctx, tx.Repo, none, there, spec)
		}
		if err != nil || len(found) > 0 {
			return true, err
		}
	}
	return false, nil
}
