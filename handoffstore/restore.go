package handoffstore

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
)

// A Restored is what a restore has done.
type Restored struct {
	Present   git.Hex        // the commit that holds what was there before; zero in a dry run
	Changes   []git.FileStat // what changed, or would
	Conflicts []string       // paths that hold both sides now, or would
}

// Restore brings what a handoff left uncommitted into this worktree, whatever is checked out there: a three-way merge of the worktree
// as it is and as it was, with the commit between them that HEAD was then. The present state is recorded first, as a commit
// that the ledger of the handoff's mission keeps. HEAD, the branch and the index stay as they are.
//
// Where both have changed the same lines the file gets both, with git's conflict markers, and is named.
// No path is overwritten or deleted that is ignored or was left out of the commit that was just recorded: then
// nothing changes, and the error says what is in the way. With dry nothing changes in any case.
func (s *Store) Restore(ctx context.Context, f *Found, at time.Time, dry bool) (*Restored, error) {
	if f.Stash.IsZero() {
		return nil, fmt.Errorf("restore handoff %s: it left nothing uncommitted: %w", f.ID(), git.ErrNotFound)
	}
	var done *Restored
	err := s.attempt(ctx, f.In, at, true, func(w *writing) (err error) {
		done, err = w.restore(ctx, f, dry)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("restore handoff %s: %w", f.ID(), err)
	}
	return done, nil
}

func (w *writing) restore(ctx context.Context, f *Found, dry bool) (*Restored, error) {
	if w.ledger == nil {
		return nil, git.ErrNotFound
	}
	done := new(Restored)
	tree, err := w.merge(ctx, f.Stash.Hash(), done)
	if err != nil {
		return nil, err
	}
	if done.Changes, err = w.Repo.DiffTrees(ctx, w.snap.Tree, tree); err != nil {
		return nil, err
	}
	if dry {
		return done, w.snap.CheckOut(ctx, tree, true)
	}
	subject := fmt.Sprintf("before restoring handoff %d", f.Number)
	present, err := w.uncommitted(subject, "")
	if err != nil {
		return nil, err
	}
	if present.IsZero() {
		present = w.snap.Head.Commit
	} else if err := w.commit(ctx, ledger.Event{Subject: subject, Keep: []plumbing.Hash{present}}, plumbing.ZeroHash, nil); err != nil {
		return nil, err
	}
	done.Present = git.Hex(present)
	return done, w.snap.CheckOut(ctx, tree, false)
}

// merge returns the tree of the worktree with the change from the stash's parent to the stash applied.
//
// The base of a merge is what git finds by itself (it takes --merge-base since 2.40 only): so both sides are commits on the stash's parent.
func (w *writing) merge(ctx context.Context, stash plumbing.Hash, done *Restored) (plumbing.Hash, error) {
	base, err := w.objects.Parents(stash)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	who := w.config.Committer(w.at)
	if len(base) == 0 { // it was made before there was a commit
		empty, err := w.objects.EmptyTree()
		if err != nil {
			return plumbing.ZeroHash, err
		}
		root, err := w.objects.CommitTree(empty, nil, who, who, "nothing\n")
		if err != nil {
			return plumbing.ZeroHash, err
		}
		base = []plumbing.Hash{root}
	}
	theirs, err := w.objects.TreeOf(stash)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	var sides [2]plumbing.Hash
	for i, tree := range []plumbing.Hash{w.snap.Tree, theirs} {
		if sides[i], err = w.objects.CommitTree(tree, base, who, who, []string{"the worktree", "the handoff"}[i]+"\n"); err != nil {
			return plumbing.ZeroHash, err
		}
	}
	if err := w.objects.Flush(); err != nil {
		return plumbing.ZeroHash, err
	}
	out, err := w.Repo.Output(ctx, nil, "-c", "merge.conflictStyle=merge", "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages",
		sides[0].String(), sides[1].String())
	if err != nil && git.Status(err) != 1 {
		return plumbing.ZeroHash, err
	}
	tree, names, _ := bytes.Cut(out, []byte{0})
	for name := range strings.SplitSeq(strings.TrimRight(string(names), "\x00"), "\x00") {
		if name != "" {
			done.Conflicts = append(done.Conflicts, name)
		}
	}
	return git.ParseHash(string(tree))
}
