package gitnotes

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"gitagent/internal/git/object"
)

// Merge merges the notes commit theirs into ours as `git notes merge` does with
// the strategy cat_sort_uniq, and returns a commit with both as parents. If one
// is the zero hash, or the other's ancestor, it returns the other.
//
// The merge is three-way, note by note. A note that one side changed or removed
// is that side's. One that both changed gets the lines of both, bytewise
// sorted, without blank or repeated ones. One that one side removed and the
// other changed stays, sorted if theirs removed it. Other entries are those of
// ours.
//
// The result is the same as git's, except for a note with a NUL byte, which git
// cuts there and Merge does not, and for one that would have more than 4 MiB:
// of two sides it is the one that has no more, or ours.
func Merge(s Store, ours, theirs object.Hash, author, committer object.Signature, message string) (object.Hash, error) {
	switch {
	case ours.IsZero():
		return theirs, nil
	case theirs.IsZero():
		return ours, nil
	}
	base, err := mergeBase(s, ours, theirs)
	switch {
	case err != nil:
	case base == ours:
		return theirs, nil
	case base == theirs:
		return ours, nil
	}
	var sides [3]*Notes
	for i, commit := range []object.Hash{base, ours, theirs} {
		if err == nil {
			sides[i], err = Open(s, commit)
		}
	}
	merged := sides[1]
	if err == nil {
		err = merge(sides[0], merged, sides[2])
	}
	var tree object.Hash
	if err == nil {
		tree, err = merged.write(merged.root)
	}
	if err != nil {
		return object.Hash{}, fmt.Errorf("merge notes %s and %s: %w", ours, theirs, err)
	}
	parents := []object.Hash{ours, theirs}
	return merged.advance(&object.Commit{Tree: tree, Parents: parents, Author: author, Committer: committer, Message: message})
}

// merge brings the changes from base to theirs into ours.
func merge(base, ours, theirs *Notes) error {
	changed, err := changes(base, base.root, theirs, theirs.root, nil)
	if err != nil {
		return err
	}
	for _, on := range changed {
		if err := mergeNote(base, ours, theirs, on); err != nil {
			return fmt.Errorf("note of %s: %w", on, err)
		}
	}
	return nil
}

// mergeNote merges the note of an object that theirs changed.
func mergeNote(base, ours, theirs *Notes, on object.Hash) error {
	before, err := base.lookup(on)
	if err != nil {
		return err
	}
	our, err := ours.lookup(on)
	if err != nil {
		return err
	}
	their, err := theirs.lookup(on)
	if err != nil || our == their {
		return err
	}
	if our == before || our.IsZero() {
		if content, ok := theirs.fresh[on]; ok {
			return ours.set(on, content)
		}
		return ours.put(Note{on, their})
	}
	var added []byte
	if !their.IsZero() {
		added, err = theirs.content(Note{on, their})
	}
	if errors.Is(err, object.ErrTooLarge) {
		return nil
	}
	if err != nil {
		return err
	}
	content, err := ours.content(Note{on, our})
	if errors.Is(err, object.ErrTooLarge) {
		return ours.set(on, catSortUniq(added, nil))
	}
	if err != nil {
		return err
	}
	if content = catSortUniq(content, added); len(content) > maxNote {
		return nil
	}
	return ours.set(on, content)
}

// catSortUniq returns the lines of both, sorted, none blank or repeated.
func catSortUniq(a, b []byte) []byte {
	lines := append(bytes.Split(a, []byte("\n")), bytes.Split(b, []byte("\n"))...)
	lines = slices.DeleteFunc(lines, func(line []byte) bool { return len(line) == 0 })
	slices.SortFunc(lines, bytes.Compare)
	lines = slices.CompactFunc(lines, bytes.Equal)
	var all []byte
	for _, line := range lines {
		all = append(append(all, line...), '\n')
	}
	return all
}

// changes appends to list the objects whose notes differ between d of a and e
// of b. A directory with the same tree on both sides is not read.
func changes(a *Notes, d *dir, b *Notes, e *dir, list []object.Hash) ([]object.Hash, error) {
	if !d.tree.IsZero() && d.tree == e.tree {
		return list, nil
	}
	if err := a.read(d); err != nil {
		return nil, err
	}
	if err := b.read(e); err != nil {
		return nil, err
	}
	if len(d.dirs) == 0 && len(e.dirs) == 0 {
		for on, blob := range d.notes {
			if e.notes[on] != blob {
				list = append(list, on)
			}
		}
		for on := range e.notes {
			if d.notes[on].IsZero() {
				list = append(list, on)
			}
		}
		return list, nil
	}
	// One side may be flat, so spread both in memory.
	d.spread()
	e.spread()
	for i := range 256 {
		next := byte(i)
		if d.dirs[next] == nil && e.dirs[next] == nil {
			continue
		}
		var err error
		if list, err = changes(a, d.sub(next), b, e.sub(next), list); err != nil {
			return nil, err
		}
	}
	return list, nil
}
