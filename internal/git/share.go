package git

import (
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// Share unstages what the staged tree has in common with a stored one, path by path: a worktree
// differs from HEAD in everything that its session has changed so far, and most of that was written
// by an earlier turn. The caller knows that stored and everything in it is in the object database,
// and must not flush meanwhile.
func (o *Objects) Share(tree, stored plumbing.Hash) error {
	if o.written(tree) == nil {
		return nil // neither the tree nor anything in it is staged
	}
	entries, err := o.Tree(tree)
	if err != nil {
		return err
	}
	old := entries
	if tree == stored {
		o.unstage(tree)
	} else if old, err = o.Tree(stored); err != nil {
		return err
	}
	for name, e := range entries {
		switch before := old[name]; {
		case e.Mode == filemode.Dir && before.Mode == filemode.Dir:
			if err := o.Share(e.Hash, before.Hash); err != nil {
				return err
			}
		case e.Mode != filemode.Dir && e.Hash == before.Hash:
			o.unstage(e.Hash)
		}
	}
	return nil
}

// Staged reports whether an object waits for [Objects.Flush].
func (o *Objects) Staged(h plumbing.Hash) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Contains(o.staged, h)
}

// unstage keeps an object from being written. It can still be read.
func (o *Objects) unstage(h plumbing.Hash) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if i := slices.Index(o.staged, h); i >= 0 {
		o.staged = slices.Delete(o.staged, i, i+1)
	}
}
