package handoffstore

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
	"gitagent/internal/snapshot"
	"gitagent/internal/workspace"
)

// A Checkout says how a restore checks out its tree.
type Checkout = snapshot.Checkout

// A Restored says what a restore has done.
type Restored struct {
	Present   git.Hex        // the commit that holds the worktree as it was before; zero in a dry run
	Changes   []git.FileStat // what changed, or would
	Conflicts []string       // paths that hold both sides now, or would
}

// Restore brings a handoff's uncommitted changes into this worktree, whatever is checked out there,
// by a three-way merge of the worktree now and the worktree then, based on the commit that HEAD was
// then. The present state is recorded first, as a commit kept by the ledger of the handoff's
// mission. HEAD, branch and index are not touched.
//
// Where both sides changed the same lines, the file gets both, with git's conflict markers, and is
// named. If a path to be overwritten or deleted is ignored or was left out of the commit just
// recorded, nothing changes, and the error says what is in the way. If the handoff is a stranger's,
// the error wraps [workspace.ErrStranger].
func (s *Store) Restore(ctx context.Context, f *Found, at time.Time, how Checkout) (*Restored, error) {
	if f.Stash.IsZero() {
		return nil, fmt.Errorf("restore handoff %s: it left nothing uncommitted: %w", f.ID(), git.ErrNotFound)
	}
	switch trusted, err := s.Trusted(ctx, f); {
	case err != nil:
		return nil, err
	case !trusted:
		return nil, fmt.Errorf("restore handoff %s: %w", f.ID(), workspace.ErrStranger)
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

func (w *writing) restore(ctx context.Context, f *Found, how Checkout) (*Restored, error) {
	if w.Ledger == nil {
		return nil, git.ErrNotFound
	}
	done := new(Restored)
	repo, err := w.Repo, error(nil)
	if how.Foreign { // an earlier tree of his may lie in the worktree
		repo, err = repo.Foreign(ctx)
	}
	if err != nil {
		return nil, err
	}
	tree, err := w.merge(ctx, repo, f.Stash.Hash(), done)
	if err != nil {
		return nil, err
	}
	if done.Changes, err = w.Repo.DiffPaths(ctx, w.Snap.Tree, tree); err != nil {
		return nil, err
	}
	if how.Dry {
		return done, w.Snap.CheckOut(ctx, tree, how)
	}
	subject := fmt.Sprintf("before restoring handoff %d", f.Number)
	present, err := w.uncommitted(subject, "")
	if err == nil && !present.IsZero() {
		if err = w.Append(subject, nil, present); err == nil {
			err = w.Commit(ctx)
		}
	}
	if err != nil {
		return nil, err
	}
	done.Present = git.Hex(cmp.Or(present, w.Snap.Head.Commit))
	return done, w.Snap.CheckOut(ctx, tree, how)
}

// merge returns the tree of the worktree with the change from the stash's parent to the stash applied.
//
// Git finds the merge base by itself (--merge-base exists only since 2.40), so both sides are made
// commits on the stash's parent.
func (w *writing) merge(ctx context.Context, repo *git.Repo, stash plumbing.Hash, done *Restored) (plumbing.Hash, error) {
	theirs, err := w.Objects.Commit(stash)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	config, err := w.Config()
	if err != nil {
		return plumbing.ZeroHash, err
	}
	who, base := config.Committer(w.At), theirs.Parents
	commit := func(tree plumbing.Hash, message string) (hash plumbing.Hash) { // unless something has failed
		if err == nil {
			hash, err = w.Objects.CommitTree(tree, base, who, who, message)
		}
		return hash
	}
	if len(base) == 0 { // made before the first commit
		var empty plumbing.Hash
		empty, err = w.Objects.EmptyTree()
		base = []plumbing.Hash{commit(empty, "nothing\n")}
	}
	ours, handedOff := commit(w.Snap.Tree, "the worktree\n"), commit(theirs.Tree, "the handoff\n")
	if err == nil {
		err = w.Objects.Flush()
	}
	if err != nil {
		return plumbing.ZeroHash, err
	}
	out, err := repo.Output(ctx, nil, "-c", "merge.conflictStyle=merge", "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages",
		ours.String(), handedOff.String())
	if err != nil && git.Status(err) != 1 {
		return plumbing.ZeroHash, err
	}
	tree, names, _ := bytes.Cut(out, []byte{0})
	done.Conflicts = strings.FieldsFunc(string(names), func(r rune) bool { return r == 0 })
	return git.ParseHash(string(tree))
}
