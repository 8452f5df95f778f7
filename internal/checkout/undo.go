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
// [Revert]. A killed change is taken back, too, and a killed undo is
// finished.
//
// say, unless nil, is called before with the change and the changes. The current
// state is recorded first, in the ledger of the state before the change. If there
// is nothing to take back, the error is [ErrNothingDone].
func Undo(ctx context.Context, w *workspace.Workspace, at time.Time, how Merging, say func(*snapshot.Change, []gitdiff.FileStat)) (*Restored, error) {
	done := new(Restored)
	var last *snapshot.Change
	err := change(ctx, w, func() (ledgertx.Job, error) {
		if last = snapshot.NewestChange(w.Repo); last == nil {
			return ledgertx.Job{}, ErrNothingDone
		}
		id, err := record.ParseID(last.Mission)
		return ledgertx.Job{Mission: id, At: at, What: "undo"}, err
	}, func(ctx context.Context, tx *ledgertx.Tx) error {
		var tree object.Hash
		var err error
		last = nil
		for _, last = range tx.Snap.LastChanges(ctx) {
			if last.Undo && last.Half {
				last = finished(last)
			}
			tree, done.Conflicts, err = before(ctx, tx, last, how)
			if err != nil || tree != tx.Snap.Tree || len(done.Conflicts) > 0 {
				break // there is something to take back
			}
		}
		switch {
		case err != nil:
			return err
		case last == nil:
			return ErrNothingDone
		}
		c := ledgertx.CheckoutPlan{Checkout: how.RestorePlan, Tree: tree, What: last.What, Undo: !last.Undo, Subject: "before undoing the " + last.String()}
		c.Foreign = c.Foreign || last.Foreign
		if a, news := undone(tx.Ledger.Mission, last, tx.At); news {
			tx.Ledger.Mission.Adopted = &a
			c.Noted = fmt.Sprintf("adopt %d", a.Turn)
			if a.Undone {
				c.Noted = "undo " + c.Noted
			} else if t, err := turns.ReadIn(tx.Ledger, a.Turn); err == nil {
				c.Merged = t.Code // it has the work again
			}
		}
		if say != nil {
			c.Say = func(changes []gitdiff.FileStat) { say(last, changes) }
		}
		return done.checkOut(ctx, tx, c, how.Merge)
	})
	switch {
	case err != nil && last != nil:
		return nil, fmt.Errorf("undo the %s: %w", last, err)
	case err != nil:
		return nil, err
	}
	return done, nil
}

// finished returns the change that a killed undo took back in part, as if it was
// done in part: taking that back finishes the undo.
func finished(undo *snapshot.Change) *snapshot.Change {
	last := *undo
	last.Undo, last.From, last.To = false, undo.To, undo.From
	return &last
}

func before(ctx context.Context, tx *ledgertx.Tx, last *snapshot.Change, how Merging) (object.Hash, []Conflict, error) {
	from, to, now := last.From, last.To, tx.Snap.Tree
	held, err := tx.Objects.TreeOf(last.Before)
	if err == nil && held != from && held != to {
		err = fmt.Errorf("commit %s does not hold it", last.Before)
	}
	if err != nil {
		return from, nil, fmt.Errorf("find what was there before: %w", err)
	}
	for _, tree := range []object.Hash{from, to} { // git would merge with an empty tree in place of a missing one
		if err := tx.Objects.Has(tree); err != nil {
			return from, nil, fmt.Errorf("what it made of the worktree is not here any more; what was there before is commit %s: %w", last.Before, err)
		}
	}
	if now == to {
		return from, nil, nil
	}
	if last.Half {
		if now, err = whole(ctx, tx, last, held == to); err != nil {
			return from, nil, err
		}
	}
	merged, err := tx.Merge(ctx, to, now, from, how.Foreign || last.Foreign)
	return merged.Tree, how.conflicts(merged), err
}

// whole returns the worktree's tree with a killed change's paths as before it,
// unless they changed since. After a killed undo, cut files are of that state.
func whole(ctx context.Context, tx *ledgertx.Tx, last *snapshot.Change, undoing bool) (object.Hash, error) {
	from, to, now := last.From, last.To, tx.Snap.Tree
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

// keepSince removes from was the paths changed since a killed change, except
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
