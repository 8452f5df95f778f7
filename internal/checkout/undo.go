package checkout

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/ledgertx"
	"gitagent/internal/record"
	"gitagent/internal/snapshot"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// ErrNothingDone reports that this worktree has no restore, revert or undo.
var ErrNothingDone = errors.New("nothing has been restored or reverted in this worktree")

// Undo takes back the last restore, revert, restore of a handoff or undo in
// this worktree. If nothing changed since, the worktree becomes exactly what it
// was; otherwise later changes are kept, by a three-way merge, as in
// [Revert]. A killed step is taken back, too, and a killed undo is
// finished.
//
// say, unless nil, is called before with the step and the changes. The current
// state is recorded first, in the ledger of the state before the step. If there
// is nothing to take back, the error is [ErrNothingDone].
func Undo(ctx context.Context, w *workspace.Workspace, at time.Time, how Merging, say func(*snapshot.Step, []gitdiff.FileStat)) (*Restored, error) {
	done := new(Restored)
	var step *snapshot.Step
	err := change(ctx, w, func() (ledgertx.Job, error) {
		if step = snapshot.NewestStep(w.Repo); step == nil {
			return ledgertx.Job{}, ErrNothingDone
		}
		id, err := record.ParseID(step.Mission)
		return ledgertx.Job{Mission: id, At: at, What: "undo"}, err
	}, func(ctx context.Context, tx *ledgertx.Tx) error {
		var tree object.Hash
		var err error
		step = nil
		for _, step = range tx.Snap.LastSteps(ctx) {
			if step.Undo && step.Half {
				step = finished(step)
			}
			tree, done.Conflicts, err = before(ctx, tx, step, how)
			if err != nil || tree != tx.Snap.Tree || len(done.Conflicts) > 0 {
				break // there is something to take back
			}
		}
		switch {
		case err != nil:
			return err
		case step == nil:
			return ErrNothingDone
		}
		c := ledgertx.CheckoutPlan{Checkout: how.RestorePlan, Tree: tree, What: step.What, Undo: !step.Undo, Subject: "before undoing the " + step.String()}
		c.Foreign = c.Foreign || step.Foreign
		if a, news := undone(tx.Ledger.Mission, step, tx.At); news {
			tx.Ledger.Mission.Adopted = &a
			c.Noted = fmt.Sprintf("adopt %d", a.Turn)
			if a.Undone {
				c.Noted = "undo " + c.Noted
			} else if t, err := turns.ReadIn(tx.Ledger, a.Turn); err == nil {
				c.Merged = t.Code // it has the work again
			}
		}
		if say != nil {
			c.Say = func(changes []gitdiff.FileStat) { say(step, changes) }
		}
		return done.checkOut(ctx, tx, c, how.Merge)
	})
	switch {
	case err != nil && step != nil:
		return nil, fmt.Errorf("undo the %s: %w", step, err)
	case err != nil:
		return nil, err
	}
	return done, nil
}

// finished returns the step that a killed undo took back in part, as if it was
// done in part: taking that back finishes the undo.
func finished(undo *snapshot.Step) *snapshot.Step {
	step := *undo
	step.Undo, step.From, step.To = false, undo.To, undo.From
	return &step
}

func before(ctx context.Context, tx *ledgertx.Tx, step *snapshot.Step, how Merging) (object.Hash, []Conflict, error) {
	from, to, now := step.From, step.To, tx.Snap.Tree
	held, err := tx.Objects.TreeOf(step.Before)
	if err == nil && held != from && held != to {
		err = fmt.Errorf("commit %s does not hold it", step.Before)
	}
	if err != nil {
		return from, nil, fmt.Errorf("find what was there before: %w", err)
	}
	for _, tree := range []object.Hash{from, to} { // git would merge with an empty tree in place of a missing one
		if err := tx.Objects.Has(tree); err != nil {
			return from, nil, fmt.Errorf("what it made of the worktree is not here any more; what was there before is commit %s: %w", step.Before, err)
		}
	}
	if now == to {
		return from, nil, nil
	}
	if step.Half {
		if now, err = whole(ctx, tx, step, held == to); err != nil {
			return from, nil, err
		}
	}
	merged, err := tx.Merge(ctx, to, now, from, how.Foreign || step.Foreign)
	return merged.Tree, how.conflicts(merged), err
}

// whole returns the worktree's tree with a killed step's paths as before it,
// unless they changed since. After a killed undo, cut files are of that state.
func whole(ctx context.Context, tx *ledgertx.Tx, step *snapshot.Step, undoing bool) (object.Hash, error) {
	from, to, now := step.From, step.To, tx.Snap.Tree
	was, err := gitdiff.Changed(ctx, tx.Repo, to, from, gitdiff.Paths{})
	if err != nil {
		return now, err
	}
	became, err := gitdiff.Changed(ctx, tx.Repo, from, to, gitdiff.Paths{})
	if err != nil {
		return now, err
	}
	since, err := gitdiff.Changed(ctx, tx.Repo, to, now, gitdiff.Paths{})
	if err != nil {
		return now, err
	}
	written := became
	if undoing {
		written = was
	}
	keepSince(was, since, func(path string, is object.Entry) bool { return cut(tx.Objects, is, written[path]) })
	return tx.Objects.EditTree(now, was)
}

// keepSince removes from was the paths changed since a killed step, except
// files that are gone, already restored, or cut off.
func keepSince(was, since map[string]object.Entry, cut func(path string, is object.Entry) bool) {
	maps.DeleteFunc(was, func(path string, before object.Entry) bool {
		is, differs := since[path]
		return differs && is.Mode != filemode.Empty && is != before && !cut(path, is)
	})
}

// cut reports whether a file is a mere beginning of another one, half written.
func cut(objects *git.Objects, is, whole object.Entry) bool {
	if is.Mode == filemode.Symlink || whole.Mode == filemode.Empty {
		return false
	}
	var size int64
	err := objects.Stream(is.Hash, math.MaxInt64, func(r io.Reader) (err error) {
		size, err = io.Copy(io.Discard, r)
		return err
	})
	if err != nil {
		return false
	}
	begins := errors.New("seen enough")
	err = objects.Stream(whole.Hash, math.MaxInt64, func(r io.Reader) error {
		h := objects.Format().Hasher(plumbing.BlobObject, size)
		if _, err := io.CopyN(h, r, size); err != nil {
			return err // the file is shorter
		}
		if h.Hash() == is.Hash {
			return begins
		}
		return nil
	})
	return errors.Is(err, begins)
}
