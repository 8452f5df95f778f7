package snapshot

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Checkout says how a tree is checked out.
type Checkout struct {
	Foreign bool // nothing of a worktree is run meanwhile: the tree is a stranger's, see [git.Repo.Foreign]
	Dry     bool // say whether it would work, and change nothing
}

// CheckOut makes the worktree match tree. The snapshot must have been taken with Publish. Only
// paths that are still as in the snapshot are changed or removed: git refuses everything if a path
// was changed since, and a file in the way that the snapshot left out (ignored, skipped) gives an
// [*InWayError].
//
// The user's index, HEAD and branch stay as they are.
func (s *Snapshot) CheckOut(ctx context.Context, tree plumbing.Hash, how Checkout) error {
	args := []string{"read-tree", "-m", "-u"}
	if how.Dry {
		args = append(args, "--dry-run")
	}
	defer os.Remove(s.index.newPath()) // nobody will publish it
	x, err := *s.index, error(nil)
	if how.Foreign {
		x.repo, err = x.repo.Foreign(ctx)
	}
	if err == nil {
		err = s.clear(ctx, tree)
	}
	if err == nil {
		err = s.index.goAhead("")
	}
	if err == nil {
		_, err = x.git(ctx, x.path, "", append(args, s.Tree.String(), tree.String())...)
	}
	if err != nil {
		return fmt.Errorf("check out tree %s: %w", tree, err)
	}
	return nil
}

// An InWayError names a file that a checkout would overwrite or delete, but that the snapshot does
// not hold because it is ignored or was left out.
type InWayError struct{ Path string } // relative to the top of the worktree; a directory ends in a slash

func (e *InWayError) Error() string { return fmt.Sprintf("%q is in the way", e.Path) }

// clear makes sure that nothing is lost where tree has a path that the snapshot lacks. Since
// version 2.34 git overwrites ignored files.
func (s *Snapshot) clear(ctx context.Context, tree plumbing.Hash) error {
	out, err := s.index.repo.Output(ctx, nil, "diff-tree", "-r", "-z", "--name-status", "--no-renames", s.Tree.String(), tree.String())
	if err != nil {
		return err
	}
	fields := strings.Split(string(out), "\x00")
	gone := make(map[string]bool) // files of the snapshot that tree does not have
	var fresh []string
	for i := 0; i+1 < len(fields); i += 2 {
		switch fields[i] {
		case "D":
			gone[fields[i+1]] = true
		case "A":
			fresh = append(fresh, fields[i+1])
		}
	}
	checked := make(map[string]bool) // directories on the way
	for _, p := range fresh {
		if err := s.clearPath(p, gone, checked); err != nil {
			return err
		}
	}
	return nil
}

// clearPath checks one path to be made, and the directories above it.
func (s *Snapshot) clearPath(p string, gone, checked map[string]bool) error {
	for dir := path.Dir(p); dir != "." && !checked[dir]; dir = path.Dir(dir) {
		checked[dir] = true
		if info, err := os.Lstat(s.index.file(dir)); err == nil && !info.IsDir() && !gone[dir] {
			return &InWayError{dir}
		}
	}
	info, err := os.Lstat(s.index.file(p))
	switch {
	case err != nil:
		return nil // nothing there, or a file of the snapshot in place of a directory
	case !info.IsDir():
		return &InWayError{p}
	}
	// A directory becomes a file: everything in it must be due to be removed.
	return filepath.WalkDir(s.index.file(p), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(s.index.repo.Top, name)
		if err == nil && !gone[filepath.ToSlash(rel)] {
			err = &InWayError{filepath.ToSlash(rel)}
		}
		return err
	})
}
