package snapshot

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"gitagent/internal/git"
)

// A Checkout says how a tree is checked out.
type Checkout struct {
	Foreign bool // nothing of a worktree is run meanwhile: the tree is a stranger's, see [git.Repo.Foreign]
	Dry     bool // say whether it would work, and change nothing
}

// CheckOut makes the worktree match tree. The snapshot must have been taken with Publish. Only
// paths that are still as in the snapshot are changed or removed: git refuses everything if a path
// was changed since, and a file in the way that the snapshot left out (ignored, skipped) gives an
// [*InWayError], one that git does not look at and that was edited a [*HiddenError].
//
// In a sparse checkout what differs outside of the patterns is written as well. The user's index, HEAD and
// branch stay as they are, and so does the current directory.
func (s *Snapshot) CheckOut(ctx context.Context, tree git.Hash, how Checkout) error {
	// Otherwise it would write nothing outside of a sparse checkout's patterns, and remove what is there.
	args := []string{"read-tree", "-m", "-u", "--no-sparse-checkout"}
	if how.Dry {
		args = append(args, "--dry-run")
	}
	defer os.Remove(s.index.newPath()) // nobody will publish it
	x, err := *s.index, error(nil)
	if how.Foreign {
		x.repo, err = x.repo.Foreign(ctx)
	}
	var gone map[string]bool
	var fresh []string
	if err == nil {
		gone, fresh, err = s.clear(ctx, tree)
	}
	if err == nil {
		err = s.index.goAhead("")
	}
	if err == nil {
		x.repo = x.repo.Sparing()
		if _, err = x.git(ctx, x.path, "", append(args, s.Tree.String(), tree.String())...); err != nil {
			err = s.hidden(ctx, &x, tree, err)
		}
	}
	if err == nil && !how.Dry {
		err = cmp.Or(s.removed(gone, fresh), s.written(fresh))
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

// A HiddenError names a file that a checkout would overwrite or delete, and that has changes which the
// snapshot does not hold, because the user has told git not to look at it.
type HiddenError struct {
	Top, Path string // of the worktree; relative to it
	Mark      string // of `git update-index`: "skip-worktree" or "assume-unchanged"
}

func (e *HiddenError) Error() string {
	return fmt.Sprintf("%q has changes that git does not look at: it is marked %s", e.Path, e.Mark)
}

// hidden returns a [*HiddenError] if that explains why git did not check out tree, else git's own error.
func (s *Snapshot) hidden(ctx context.Context, x *privateIndex, tree git.Hash, failed error) error {
	was, err := x.repo.Changed(ctx, tree, s.Tree, git.Paths{})
	if err != nil {
		return failed
	}
	list, err := x.git(ctx, x.path, "", "ls-files", "-v", "-z")
	if err != nil {
		return failed
	}
	for line := range strings.SplitSeq(list, "\x00") {
		tag, p, _ := strings.Cut(line, " ")
		mark := "assume-unchanged" // a small letter
		if strings.EqualFold(tag, "S") {
			mark = "skip-worktree"
		} else if tag == strings.ToUpper(tag) {
			continue
		}
		e, differs := was[p]
		if info, err := os.Lstat(x.file(p)); !differs || err != nil || !info.Mode().IsRegular() {
			continue
		}
		now, err := x.git(ctx, x.path, "", "hash-object", "--", p)
		if err == nil && strings.TrimSpace(now) != e.Hash.String() {
			return &HiddenError{x.repo.Top, p, mark}
		}
	}
	return failed
}

// removed makes sure that the files of the snapshot that were to go are gone: git only warns of those in a
// directory that can't be written. Names of fresh files may differ from theirs in case alone.
func (s *Snapshot) removed(gone map[string]bool, fresh []string) error {
	top, err := filepath.EvalSymlinks(s.index.repo.Top)
	if err != nil {
		return err
	}
	for p := range gone {
		dir, err := filepath.EvalSymlinks(filepath.Dir(s.index.file(p)))
		if err != nil || dir != filepath.Join(top, filepath.FromSlash(path.Dir(p))) {
			continue // a link has taken the place of a directory
		}
		info, err := os.Lstat(s.index.file(p))
		if err != nil || info.IsDir() {
			continue
		}
		if !slices.ContainsFunc(fresh, func(q string) bool {
			other, err := os.Lstat(s.index.file(q))
			return err == nil && os.SameFile(info, other)
		}) {
			return fmt.Errorf("%q could not be removed", p)
		}
	}
	return nil
}

// written makes sure that the files that only the new tree has are there: where the user's settings make git
// leave one out, it says nothing.
func (s *Snapshot) written(fresh []string) error {
	for _, p := range fresh {
		if _, err := os.Lstat(s.index.file(p)); gone(err) {
			return fmt.Errorf("%q could not be written", p)
		}
	}
	return nil
}

// clear makes sure that nothing is lost where tree has a path that the snapshot lacks. Since
// version 2.34 git overwrites ignored files. It returns the files of the snapshot that tree does not
// have, and those that only tree has.
func (s *Snapshot) clear(ctx context.Context, tree git.Hash) (gone map[string]bool, fresh []string, err error) {
	out, err := s.index.repo.Output(ctx, nil, "diff-tree", "-r", "-z", "--raw", "--no-renames", s.Tree.String(), tree.String())
	if err != nil {
		return nil, nil, err
	}
	fields := strings.Split(string(out), "\x00")
	gone = make(map[string]bool)
	modules := make(map[string]bool)
	for i := 0; i+1 < len(fields); i += 2 {
		p := fields[i+1]
		switch f := strings.Fields(fields[i]); f[len(f)-1] { // :<mode> <mode> <hash> <hash> <status>
		case "D":
			gone[p] = true
		case "A":
			fresh = append(fresh, p)
			modules[p] = f[1] == submodule
		}
	}
	free := make(map[string]bool)
	for _, p := range fresh {
		if err := s.clearPath(p, modules[p], gone, free); err != nil {
			return nil, nil, err
		}
	}
	return gone, fresh, nil
}

// clearDir checks a directory to be made, and those above it. It reports whether nothing can be in it
// because a file or link of the snapshot is to make way for it, and notes that in free.
func (s *Snapshot) clearDir(dir string, gone, free map[string]bool) (bool, error) {
	if known, ok := free[dir]; ok || dir == "." {
		return known, nil
	}
	is, err := s.clearDir(path.Dir(dir), gone, free)
	if err == nil && !is {
		info, e := os.Lstat(s.index.file(dir))
		if is = e == nil && !info.IsDir(); is && !gone[dir] {
			err = &InWayError{dir}
		}
	}
	free[dir] = is
	return is, err
}

// submodule is the mode of a submodule's commit, as git prints it.
const submodule = "160000"

// clearPath checks one path to be made, and the directories above it. Of a submodule git makes only the
// directory, and it leaves that behind.
func (s *Snapshot) clearPath(p string, module bool, gone, free map[string]bool) error {
	if is, err := s.clearDir(path.Dir(p), gone, free); is || err != nil {
		return err
	}
	info, err := os.Lstat(s.index.file(p))
	switch {
	case err != nil:
		return nil // nothing there, or a file of the snapshot in place of a directory
	case !info.IsDir():
		return &InWayError{p}
	case module:
		return nil
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
