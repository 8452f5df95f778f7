package snapshot

import (
	"context"
	"errors"
	"path"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
)

// errWhole says that only [Take] can tell what the tree is.
var errWhole = errors.New("the whole worktree has to be looked at")

// Edit returns the tree of an earlier snapshot with some files, by their paths
// from the top, as they are now: what [Take] would return if nothing else has
// changed. It starts no git unless a file is not in the commit head, HEAD's, so
// that git may ignore it by now. ok is false if it can't tell, and a whole
// snapshot is needed.
//
// The earlier snapshot must have been Plain, and its tree must be complete in
// the object database. What the trees share is not staged. The caller must hold
// the worktree's lock.
func Edit(ctx context.Context, repo *git.Repo, objects *git.Objects, policy Policy, head, earlier object.Hash, paths []string) (tree object.Hash, ok bool, err error) {
	index, err := openIndex(repo)
	if err != nil {
		return tree, false, err
	}
	t := &taker{ctx: ctx, index: index, objects: objects, opt: Options{Policy: policy}, head: head}
	tree, err = t.edit(head, earlier, paths)
	if errors.Is(err, errWhole) || git.Lost(err) {
		return object.Hash{}, false, nil
	}
	return tree, err == nil, err
}

func (t *taker) edit(commit, earlier object.Hash, paths []string) (tree object.Hash, err error) {
	head, err := t.objects.TreeOf(commit)
	if err != nil {
		return tree, err
	}
	var entries []entry
	var fresh []untracked
	contents := make(map[string][]byte) // by path; only the paths count yet
	for _, p := range paths {
		old, err := t.before(earlier, p)
		if err != nil {
			return tree, err
		}
		e := entry{path: p, work: true}
		t.look(&e)
		switch {
		case e.info == nil && !e.gone, len(t.skipped) > 0, e.info != nil && e.info.Size() > t.opt.Policy.MaxFileSize:
			return tree, errWhole
		case e.gone && old.Mode == filemode.Empty:
			continue
		}
		if !e.gone {
			tracked, err := t.objects.Lookup(head, p)
			if err != nil {
				return tree, err
			}
			if tracked.Mode == filemode.Empty { // it may be ignored by now, where the earlier tree has it, too
				fresh = append(fresh, untracked{path: p, size: e.info.Size()})
			}
		}
		entries = append(entries, e)
		contents[p] = nil
	}
	if t.attributesFor(entries, contents) {
		return tree, errWhole
	}
	ignored, err := t.ignored(fresh)
	if err != nil {
		return tree, err
	}
	for i := range entries {
		e := &entries[i]
		e.gone = e.gone || ignored[e.path]
	}
	files, ok := t.plain(entries)
	if !ok {
		return tree, errWhole
	}
	changes := make(map[string]object.Entry, len(entries))
	for _, e := range entries {
		changes[e.path] = files[e.path] // zero if it is gone
	}
	if tree, err = t.objects.EditTree(earlier, changes); err != nil {
		return tree, err
	}
	return tree, t.objects.Share(tree, earlier)
}

// before returns the entry at a path of the earlier tree. The error is errWhole
// if what is there, or above, has a meaning of its own for git.
func (t *taker) before(tree object.Hash, name string) (e object.Entry, err error) {
	switch path.Base(name) {
	case ".gitattributes", ".gitignore", ".gitmodules":
		return e, errWhole
	}
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		above := object.Entry{Mode: filemode.Dir, Hash: tree}
		if dir != "." {
			if above, err = t.objects.Lookup(tree, dir); err != nil {
				return e, err
			}
		}
		if above.Mode == filemode.Submodule {
			return e, errWhole
		}
		if above.Mode == filemode.Dir { // attributes that are gone from the worktree may be in the index
			if a, err := t.objects.Lookup(above.Hash, ".gitattributes"); err != nil || a.Mode != filemode.Empty {
				return e, errors.Join(err, errWhole)
			}
		}
		if dir == "." {
			break
		}
	}
	if e, err = t.objects.Lookup(tree, name); err == nil && e.Mode == filemode.Submodule {
		err = errWhole
	}
	return e, err
}

// ignored returns those of the new files that git ignores. The error is errWhole
// if one of the others might be left out of a snapshot, or is an old one in
// another spelling.
func (t *taker) ignored(fresh []untracked) (map[string]bool, error) {
	if len(fresh) == 0 {
		return nil, nil
	}
	if _, skipped := t.opt.Policy.apply(fresh); len(skipped) > 0 || ignoresCase {
		return nil, errWhole
	}
	var list strings.Builder
	for _, f := range fresh {
		list.WriteString(f.path + "\x00")
	}
	out, err := t.index.repo.Output(t.ctx, strings.NewReader(list.String()), "check-ignore", "-z", "--stdin")
	if err != nil && git.Status(err) != 1 {
		return nil, err
	}
	ignored := make(map[string]bool)
	for name := range strings.SplitSeq(string(out), "\x00") {
		ignored[name] = true
	}
	return ignored, nil
}

// Inside returns the path, from the worktree's top, of the file that a name
// leads to through any links; it may be gone. ok is false for what no snapshot
// has: outside, of git, or in a repository within.
func Inside(repo *git.Repo, file string) (name string, ok bool) {
	name, ok = git.Within(repo.Top, resolve(file))
	if !ok || name == "." || git.DotGit(name) {
		return "", false
	}
	for dir := name; dir != "."; dir = path.Dir(dir) {
		if exists(filepath.Join(repo.Top, filepath.FromSlash(dir), ".git")) {
			return "", false
		}
	}
	return name, true
}

// resolve is [filepath.EvalSymlinks] for what need not exist.
func resolve(file string) string {
	if real, err := filepath.EvalSymlinks(file); err == nil {
		return real
	}
	dir := filepath.Dir(file)
	if dir == file {
		return file
	}
	return filepath.Join(resolve(dir), filepath.Base(file))
}
