package gitdiff

import (
	"fmt"
	"maps"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
)

// A Difference is a path that differs between two trees.
type Difference struct {
	Tree     int          // index of the tree that was compared
	Path     string       // git's bytes
	Old, New object.Entry // zero where the path does not exist; never a directory
}

// Limits of what [Differences] reads of untrusted trees.
const (
	maxDiffEntries = 5_000_000 // tree entries in total: about a second
	maxDiffPath    = 4096      // bytes; no system checks out a longer path
)

// Differences returns the paths in which trees differ from the tree base. What
// several trees share is returned for the first one only: the turns of a
// mission share most of it. whole is false if more than limit paths, with
// directories, differ.
//
// A tree of a kilobyte can hold a million paths. Git, which is not used here,
// collects them all first, in 20 s and 300 MB.
func Differences(o *git.Objects, base object.Hash, trees []object.Hash, limit int) (found []Difference, whole bool, err error) {
	d := differ{objects: o, limit: limit, base: make(map[string]map[string]object.Entry), seen: make(map[seenEntry]bool)}
	for i, tree := range trees {
		d.tree = i
		if tree == base {
			continue
		}
		if err := d.trees("", base, tree); err != nil {
			return nil, false, fmt.Errorf("compare trees %s and %s: %w", base, tree, err)
		}
	}
	return d.found, !d.tooMuch, nil
}

type differ struct {
	objects *git.Objects
	limit   int
	tree    int
	base    map[string]map[string]object.Entry // the directories of base that were read, by path
	seen    map[seenEntry]bool
	entries int // read so far
	found   []Difference
	tooMuch bool
}

type seenEntry struct {
	path string
	object.Entry
}

func (d *differ) trees(dir string, from, to object.Hash) error {
	old, read := d.base[dir]
	if !read {
		var err error
		if old, err = d.objects.Tree(from, git.MaxTree); err != nil {
			return err
		}
		d.base[dir] = old
	}
	var list []object.TreeEntry
	if to != d.objects.Format().EmptyTree() && !to.IsZero() {
		content, err := d.objects.Read(plumbing.TreeObject, to, git.MaxTree)
		if err != nil {
			return err
		}
		if list, err = object.ParseTree(d.objects.Format(), content); err != nil {
			return fmt.Errorf("read tree %s: %w", to, err)
		}
	}
	gone := maps.Clone(old)
	for _, e := range list { // several may have the same name
		delete(gone, e.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(gone)) {
		list = append(list, object.TreeEntry{Name: name})
	}
	if d.entries += len(list); d.entries > maxDiffEntries {
		d.tooMuch = true
	}
	for _, e := range list {
		if err := d.entry(dir+e.Name, old[e.Name], e.Entry); err != nil || d.tooMuch {
			return err
		}
	}
	return nil
}

func (d *differ) entry(path string, old, fresh object.Entry) error {
	at := seenEntry{path, fresh}
	if old == fresh || d.seen[at] {
		return nil
	}
	if len(d.seen) >= d.limit || len(path) > maxDiffPath {
		d.tooMuch = true
		return nil
	}
	d.seen[at] = true
	from, old := split(old)
	to, fresh := split(fresh)
	if old != fresh {
		d.found = append(d.found, Difference{d.tree, path, old, fresh})
	}
	if from == to {
		return nil
	}
	return d.trees(path+"/", from, to)
}
