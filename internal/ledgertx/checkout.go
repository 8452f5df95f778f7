package ledgertx

import (
	"context"
	"errors"
	"fmt"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/snapshot"
)

// A Checkout is what [Tx.CheckOut] makes of the worktree.
type CheckoutPlan struct {
	snapshot.Checkout
	Tree    git.Hash
	What    string // for a person who wants to undo it: "restore of turn a1b2c3d4/12"
	Undo    bool   // it takes that back
	Subject string // of the event that keeps what was there before
	// Noted, unless empty, is the subject of an event that comes first, with what has changed in mission.json:
	// an event that keeps a state must not change the records, see [turns.Saved].
	Noted string
	// Merged is a commit whose work the tree has, with what was there before; zero for none. The commit that
	// the event keeps of the tree is on it as well.
	Merged git.Hash
	// Say, unless nil, is called when nothing is in the way any more, before anything changes.
	Say func(changes []git.FileStat)
}

// A CheckedOut says what [Tx.CheckOut] has done.
type CheckedOut struct {
	Present git.Hash       // the commit that holds the worktree as it was before; zero in a dry run
	Changes []git.FileStat // what changed, or would
}

// CheckOut makes the worktree, at which the transaction has looked with publish, match a tree. HEAD,
// branch and index are not touched. An event keeps what was there before, and what comes of it; a
// [snapshot.Step] tells how to take it back. If something is in the way, nothing of that happens, see
// [snapshot.CheckOut]. It is the end of a transaction.
func (tx *Tx) CheckOut(ctx context.Context, c CheckoutPlan) (*CheckedOut, error) {
	if err := tx.Objects.Flush(); err != nil {
		return nil, err
	}
	changes, err := tx.Repo.DiffPaths(ctx, tx.Snap.Tree, c.Tree)
	if err != nil {
		return nil, err
	}
	done := &CheckedOut{Changes: changes}
	if err := tx.Snap.CheckOut(ctx, c.Tree, snapshot.Checkout{Foreign: c.Foreign, Dry: true}); err != nil {
		return nil, err
	}
	if c.Say != nil {
		c.Say(changes)
	}
	if c.Dry {
		return done, nil
	}
	present, err := tx.present(c.Subject)
	keep := []git.Hash{present}
	step := snapshot.Step{
		What: c.What, Undo: c.Undo, At: tx.At, Mission: tx.ID, Foreign: c.Foreign,
		Before: present, From: tx.Snap.Tree, To: c.Tree,
	}
	if err == nil && c.Tree != tx.Snap.Tree {
		var after git.Hash // undo needs its tree, should the worktree change meanwhile
		on := []git.Hash{present}
		if !c.Merged.IsZero() {
			on = append(on, c.Merged)
		}
		after, err = tx.CommitTree(c.Tree, on, ledger.CodeMessage("after the "+step.String(), tx.ID, 0, ""))
		keep = append(keep, after)
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
		return done, nil // and what was done before can still be taken back
	}
	if err = tx.Snap.Step(ctx, step); errors.Is(err, snapshot.ErrHalf) {
		err = fmt.Errorf("%w; what was there before is kept as %s", err, done.Present)
	}
	return done, err
}

// Merge applies what changed from base to theirs to ours, all of them trees, see [git.Repo.MergeTrees].
// With foreign, no merge driver that lies in the worktree runs: an earlier tree of a stranger's may.
func (tx *Tx) Merge(ctx context.Context, base, ours, theirs git.Hash, foreign bool) (git.Merge, error) {
	repo := tx.Repo
	if foreign {
		var err error
		if repo, err = repo.Foreign(ctx); err != nil {
			return git.Merge{}, err
		}
	}
	return repo.MergeTrees(ctx, tx.Objects, base, ours, theirs)
}

// present returns a commit that holds the worktree: HEAD if it does, else a new one on HEAD.
func (tx *Tx) present(subject string) (git.Hash, error) {
	head, err := tx.Head(ledger.CodeMessage("before the first commit", tx.ID, 0, ""))
	if err != nil {
		return head, err
	}
	tree, err := tx.Objects.TreeOf(head)
	if err != nil || tree == tx.Snap.Tree {
		return head, err
	}
	return tx.CommitTree(tx.Snap.Tree, []git.Hash{head}, ledger.CodeMessage(subject, tx.ID, 0, ""))
}
