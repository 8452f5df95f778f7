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

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/record"
)

// A Checkout says how a tree is checked out.
type Checkout struct {
	Foreign bool // the tree is untrusted: run nothing from a worktree, see [git.Repo.Foreign]
	Dry     bool // only tell whether it would work
}

// CheckOut makes the worktree match tree. The snapshot must have been taken
// with Publish. If a path was changed since, git refuses everything. A file in
// the way that the snapshot left out gives an [*InWayError], an edited one that
// git does not look at a [*HiddenError], and one of [Snapshot.Unseen] an
// [*UnseenError].
//
// What a filter fails on is written as git stores it, see [git.Repo.Forgiving].
// In a sparse checkout what differs outside of the patterns is written as well.
// The user's index, HEAD and branch stay as they are, and so does the current
// directory.
func (s *Snapshot) CheckOut(ctx context.Context, tree object.Hash, how Checkout) error {
	// Otherwise it would write nothing outside of a sparse checkout's patterns,
	// and remove what is there.
	args := []string{"read-tree", "-m", "-u", "--no-sparse-checkout"}
	if how.Dry {
		args = append(args, "--dry-run")
	}
	defer os.Remove(s.index.newPath()) // it will not be published
	x := *s.index
	var err error
	if x.repo, err = x.repo.Forgiving(ctx); err == nil && how.Foreign {
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
		x.repo = x.repo.With(git.Sparing)
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

// An InWayError names a file that a checkout would overwrite or delete, and
// that the snapshot lacks because it is ignored or left out.
type InWayError struct{ Path string } // from the worktree's top; a directory ends in /

func (e *InWayError) Error() string { return fmt.Sprintf("%q is in the way", e.Path) }

// A HiddenError names a file that a checkout would overwrite or delete, with
// changes that the snapshot lacks: the user told git not to look at it.
type HiddenError struct {
	Top, Path string // the worktree's top, and the file from there
	Mark      string // "skip-worktree" or "assume-unchanged", as in update-index
}

func (e *HiddenError) Error() string {
	return fmt.Sprintf("%q has changes that git does not look at: it is marked %s", e.Path, e.Mark)
}

// An Unseen is a path that a snapshot has as it was before, as nothing tells
// what is there.
type Unseen struct {
	Path string // from the worktree's top; a directory ends in /
	Why  string // to a person: "its filter failed"
}

// An UnseenError names a path that a checkout would have to replace.
type UnseenError struct {
	Top string // the worktree's
	Unseen
}

func (e *UnseenError) Error() string {
	return fmt.Sprintf("%q would be replaced, and what is in it is not recorded: %s", e.Path, e.Why)
}

// Unseen returns what is tracked of the paths that the snapshot left out.
func (s *Snapshot) Unseen(objects *git.Objects) ([]Unseen, error) {
	var tracked []Unseen
	for _, u := range s.unseen() {
		e, err := objects.Lookup(s.Tree, strings.TrimSuffix(u.Path, "/"))
		if err != nil {
			return nil, err
		}
		if e.Mode != filemode.Empty {
			tracked = append(tracked, u)
		}
	}
	return tracked, nil
}

func (s *Snapshot) unseen() (list []Unseen) {
	for _, skip := range s.Skipped {
		switch skip.Why {
		case record.WhyFilter:
			list = append(list, Unseen{skip.Path, "its filter failed"})
		case record.WhyUnreadable:
			list = append(list, Unseen{skip.Path, "it can't be read"})
		}
	}
	return list
}

// hidden returns a [*HiddenError] if that explains why git did not check out
// tree, else git's own error.
func (s *Snapshot) hidden(ctx context.Context, x *privateIndex, tree object.Hash, failed error) error {
	was, err := gitdiff.Changed(ctx, x.repo, tree, s.Tree, gitdiff.Paths{})
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

// removed checks that the files in gone are gone: git only warns if it can't
// write a directory. A fresh file's name may differ in case alone.
func (s *Snapshot) removed(gone map[string]bool, fresh []string) error {
	top, err := filepath.EvalSymlinks(s.index.repo.Top)
	if err != nil {
		return err
	}
	for p := range gone {
		dir, err := filepath.EvalSymlinks(filepath.Dir(s.index.file(p)))
		if err != nil || dir != filepath.Join(top, filepath.FromSlash(path.Dir(p))) {
			continue // a link replaced the directory
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

// written checks for the fresh files: settings can make git omit one silently.
func (s *Snapshot) written(fresh []string) error {
	for _, p := range fresh {
		if _, err := os.Lstat(s.index.file(p)); gone(err) {
			return fmt.Errorf("%q could not be written", p)
		}
	}
	return nil
}

// clear makes sure that nothing is lost where tree has a path that the snapshot
// lacks. Since version 2.34 git overwrites ignored files. It returns the files
// of the snapshot that tree does not have, and those that only tree has.
func (s *Snapshot) clear(ctx context.Context, tree object.Hash) (gone map[string]bool, fresh []string, err error) {
	out, err := s.index.repo.Output(ctx, nil, "diff-tree", "-r", "-z", "--raw", "--no-renames", s.Tree.String(), tree.String())
	if err != nil {
		return nil, nil, err
	}
	fields := strings.Split(string(out), "\x00")
	gone = make(map[string]bool)
	modules := make(map[string]bool)
	unseen := s.unseen()
	for i := 0; i+1 < len(fields); i += 2 {
		p := fields[i+1]
		f := strings.Fields(fields[i]) // :<mode> <mode> <hash> <hash> <status>
		status := f[len(f)-1]
		for _, u := range unseen {
			if p == u.Path && status != "A" || strings.HasSuffix(u.Path, "/") && strings.HasPrefix(p, u.Path) {
				return nil, nil, &UnseenError{s.index.repo.Top, u}
			}
		}
		switch status {
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

// clearDir checks a directory to be made, and its parents. It reports, and
// notes in free, whether a file or link that goes makes sure that nothing is in
// it.
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

// submodule is git's mode for one.
const submodule = "160000"

// clearPath checks a path to be made; for a submodule git makes a directory.
func (s *Snapshot) clearPath(p string, module bool, gone, free map[string]bool) error {
	if is, err := s.clearDir(path.Dir(p), gone, free); is || err != nil {
		return err
	}
	info, err := os.Lstat(s.index.file(p))
	switch {
	case err != nil:
		return nil // nothing there, or a file in place of a parent
	case !info.IsDir():
		return &InWayError{p}
	case module:
		return nil
	}
	// Everything in a directory that becomes a file must be about to go.
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
