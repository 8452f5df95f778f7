package ledgertx

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/ledger"
	"gitagent/internal/purgemap"
	"gitagent/internal/record"
	"gitagent/internal/scrub"
	"gitagent/internal/snapshot"
	"gitagent/internal/statedir"
)

// A CheckoutPlan is what [Tx.CheckOut] does to the worktree.
type CheckoutPlan struct {
	snapshot.Checkout
	Tree    object.Hash
	What    string // what a person would undo: "restore of turn a1b2c3d4/12"
	Undo    bool   // it undoes that
	Subject string // of the event that keeps the previous worktree
	// Noted, if set, is the subject of a first event, with mission.json's
	// changes: one that keeps a state must not change records, see
	// [turns.Saved].
	Noted string
	// Merged, if set, went into Tree, and is a parent of its kept commit.
	Merged object.Hash
	// Say, if set, is called before any change, once nothing is in the way.
	Say func(changes []gitdiff.FileStat)
}

// A CheckedOut is the result of [Tx.CheckOut].
type CheckedOut struct {
	Present object.Hash        // the commit of the previous worktree; zero in a dry run
	After   object.Hash        // the commit of what it was made; zero if nothing changed
	Changes []gitdiff.FileStat // done, or in a dry run to be done
	Stayed  []Submodule        // which, as with git, only the user moves
	Unseen  []snapshot.Unseen  // which stayed, as nothing tells whether they differ
	Foreign bool               // untrusted files came with it

	// What was purged is missing in Marked, which are new and have marks in its
	// place; Kept were to get marks, and Purged have it, and no state as they
	// are: they stay.
	Marked       []string
	Kept, Purged []Kept
}

// A Kept is a file that stays as it is, though a checkout was to change it.
type Kept struct {
	Path string
	Want object.Hash // the content that it was to have; zero for none
}

// A Submodule is one that is checked out, at another commit than in a tree.
type Submodule struct {
	Dir  string      // absolute
	Want object.Hash // the tree's
}

// CheckOut makes the worktree match a tree, but not HEAD, branch and index. It
// ends the transaction, after Look with publish. An event keeps both worktrees,
// and a [snapshot.Change] allows undo. If something is in the way, it does
// nothing; see [snapshot.Snapshot.CheckOut].
func (tx *Tx) CheckOut(ctx context.Context, c CheckoutPlan) (*CheckedOut, error) {
	stayed, err := tx.leaveSubmodules(ctx, &c.Tree)
	if err != nil {
		return nil, err
	}
	done := &CheckedOut{Stayed: stayed, Foreign: c.Foreign}
	if err := tx.keepPurged(ctx, &c.Tree, done); err != nil {
		return nil, err
	}
	if done.Changes, err = gitdiff.OfPaths(ctx, tx.Repo, tx.Snap.Tree, c.Tree); err != nil {
		return nil, err
	}
	if done.Unseen, err = tx.Snap.Unseen(tx.Objects); err != nil {
		return nil, err
	}
	if err := tx.Snap.CheckOut(ctx, c.Tree, snapshot.Checkout{Foreign: c.Foreign, Dry: true}); err != nil {
		return nil, err
	}
	if c.Say != nil {
		c.Say(done.Changes)
	}
	if c.Dry {
		return done, nil
	}
	present, err := tx.present(c.Subject)
	keep := []object.Hash{present}
	change := snapshot.Change{
		What: c.What, Undo: c.Undo, At: tx.At, Mission: tx.ID, Foreign: c.Foreign,
		Before: present, From: tx.Snap.Tree, To: c.Tree,
	}
	if err == nil && c.Tree != tx.Snap.Tree {
		// Undo needs its tree if the worktree changes meanwhile.
		on := []object.Hash{present}
		if !c.Merged.IsZero() {
			on = append(on, c.Merged)
		}
		done.After, err = tx.CommitTree(c.Tree, on, ledger.CodeMessage("after the "+change.String(), tx.ID, 0, ""))
		keep = append(keep, done.After)
	}
	if err == nil && c.Noted != "" {
		err = tx.Append(c.Noted, nil)
	}
	if err == nil {
		err = tx.Append(c.Subject, nil, keep...)
	}
	if err == nil {
		err = tx.Commit(ctx)
	}
	if err != nil {
		return nil, err
	}
	done.Present = present
	if c.Tree == tx.Snap.Tree {
		return done, nil // an earlier change can still be undone
	}
	if err = tx.Snap.Change(ctx, change); errors.Is(err, snapshot.ErrHalf) {
		err = fmt.Errorf("%w; what was there before is kept as %s", err, done.Present)
	}
	return done, err
}

// leaveSubmodules flushes, and replaces the tree by one with the submodules that
// are checked out as they are.
func (tx *Tx) leaveSubmodules(ctx context.Context, tree *object.Hash) (stayed []Submodule, err error) {
	if err := tx.Objects.Flush(); err != nil {
		return nil, err
	}
	changed, err := gitdiff.Changed(ctx, tx.Repo, tx.Snap.Tree, *tree, gitdiff.Paths{})
	if err != nil {
		return nil, err
	}
	stay := make(map[string]object.Entry)
	for path, e := range changed {
		if e.Mode != filemode.Submodule {
			continue
		}
		is, err := tx.Objects.Lookup(tx.Snap.Tree, path)
		if err != nil {
			return nil, err
		}
		dir := filepath.Join(tx.Repo.Top, filepath.FromSlash(path))
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil && is.Mode == filemode.Submodule {
			stay[path] = is
			stayed = append(stayed, Submodule{dir, e.Hash})
		}
	}
	if len(stay) == 0 {
		return nil, nil
	}
	slices.SortFunc(stayed, func(a, b Submodule) int { return strings.Compare(a.Dir, b.Dir) })
	if *tree, err = tx.Objects.EditTree(*tree, stay); err != nil {
		return nil, err
	}
	return stayed, tx.Objects.Flush()
}

// keepPurged replaces the tree by one without the changes of files in which
// something was purged, here or there: a mark must not take the place of what
// the user has, and what is in no state as it is could not be had back.
func (tx *Tx) keepPurged(ctx context.Context, tree *object.Hash, done *CheckedOut) error {
	if !WasPurged(ctx, tx.Repo) {
		return nil
	}
	changed, err := gitdiff.Changed(ctx, tx.Repo, tx.Snap.Tree, *tree, gitdiff.Paths{})
	if err != nil {
		return err
	}
	stay := make(map[string]object.Entry)
	keep := func(list *[]Kept, path string, is object.Entry) {
		stay[path] = is
		*list = append(*list, Kept{path, changed[path].Hash})
		delete(changed, path)
	}
	for _, s := range tx.Snap.Skipped {
		if _, differs := changed[s.Path]; differs && s.Why == record.WhyPurged {
			is, err := tx.Objects.Lookup(tx.Snap.Tree, s.Path) // nothing, if it was left out
			if err != nil {
				return err
			}
			keep(&done.Purged, s.Path, is)
		}
	}
	marked, err := gitdiff.Marked(tx.Objects, tx.Snap.Tree, changed)
	if err != nil {
		return err
	}
	for _, path := range marked {
		is, err := tx.Objects.Lookup(tx.Snap.Tree, path)
		switch {
		case err != nil:
			return err
		case is.Mode == filemode.Empty:
			done.Marked = append(done.Marked, path)
		default:
			keep(&done.Kept, path, is)
		}
	}
	if len(stay) == 0 {
		return nil
	}
	if *tree, err = tx.Objects.EditTree(*tree, stay); err != nil {
		return err
	}
	return tx.Objects.Flush()
}

// WasPurged reports whether anything was purged here, or in a clone that has told
// of it: else a mark in a file is the user's own text.
func WasPurged(ctx context.Context, repo *git.Repo) bool {
	refs, err := repo.Refs(ctx, purgemap.Ref)
	memory, unread := scrub.ReadMemory(statedir.Of(repo.CommonDir))
	return err != nil || unread != nil || len(refs) > 0 || memory.Finds()
}

// Merge applies the changes from base to theirs to ours, see
// [gitdiff.MergeTrees]; with foreign without the worktree's merge drivers,
// which may come from an earlier untrusted tree.
func (tx *Tx) Merge(ctx context.Context, base, ours, theirs object.Hash, foreign bool) (gitdiff.Merge, error) {
	repo := tx.Repo
	if foreign {
		var err error
		if repo, err = repo.Foreign(ctx); err != nil {
			return gitdiff.Merge{}, err
		}
	}
	return gitdiff.MergeTrees(ctx, repo, tx.Objects, base, ours, theirs)
}

// present returns a commit of the worktree, HEAD or a new one on it.
func (tx *Tx) present(subject string) (object.Hash, error) {
	head, err := tx.Head(ledger.CodeMessage("before the first commit", tx.ID, 0, ""))
	if err != nil {
		return head, err
	}
	tree, err := tx.Objects.TreeOf(head)
	if err != nil || tree == tx.Snap.Tree {
		return head, err
	}
	return tx.CommitTree(tx.Snap.Tree, []object.Hash{head}, ledger.CodeMessage(subject, tx.ID, 0, ""))
}
