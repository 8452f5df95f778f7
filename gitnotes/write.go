package gitnotes

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Commit writes what changed, and a commit whose one parent is the commit that was opened,
// or that has none if there was none, and returns its hash.
// The message is stored as it is; git ends one with a newline.
// When nothing changed, Commit writes nothing and returns the commit that was opened.
//
// The Notes go on from the new commit.
func (n *Notes) Commit(author, committer object.Signature, message string) (plumbing.Hash, error) {
	tree, err := n.write(n.root)
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("commit notes: %w", err)
	}
	if tree == n.tree {
		return n.commit, nil
	}
	c := &object.Commit{Author: author, Committer: committer, Message: message, TreeHash: tree}
	if !n.commit.IsZero() {
		c.ParentHashes = []plumbing.Hash{n.commit}
	}
	return n.advance(c)
}

// advance writes a commit of the notes and goes on from it.
func (n *Notes) advance(c *object.Commit) (plumbing.Hash, error) {
	o := n.s.NewEncodedObject()
	err := c.Encode(o)
	var hash plumbing.Hash
	if err == nil {
		hash, err = n.s.SetEncodedObject(o)
	}
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("commit notes: %w", err)
	}
	n.commit, n.tree = hash, c.TreeHash
	return hash, nil
}

// write stores d, unless it is stored, and returns its tree.
// An empty directory has none, unless it is the root.
func (n *Notes) write(d *dir) (plumbing.Hash, error) {
	if !d.tree.IsZero() {
		return d.tree, nil
	}
	entries, err := n.entries(d)
	if err != nil || len(entries) == 0 && d != n.root {
		return plumbing.ZeroHash, err
	}
	d.tree, err = n.store(entries)
	return d.tree, err
}

// entries returns what the tree of d holds, and stores what these refer to.
func (n *Notes) entries(d *dir) ([]object.TreeEntry, error) {
	if err := n.read(d); err != nil {
		return nil, err
	}
	spread, err := n.fansOut(d)
	if err != nil {
		return nil, err
	}
	if !spread {
		return n.flat(d)
	}
	d.spread()
	entries := make(map[string]object.TreeEntry)
	maps.Copy(entries, d.others)
	for b, sub := range d.dirs {
		tree, err := n.write(sub)
		if err != nil {
			return nil, err
		}
		if !tree.IsZero() {
			entries[digits(b)] = object.TreeEntry{Name: digits(b), Mode: filemode.Dir, Hash: tree}
		}
	}
	return slices.Collect(maps.Values(entries)), nil
}

// fansOut decides whether the notes of d belong into subdirectories.
// The rule is git's; see the package comment.
func (n *Notes) fansOut(d *dir) (bool, error) {
	if d.depth == maxDepth {
		return false, nil
	}
	var next [16]int
	var taken bool
	count := func(b byte, weight int) {
		next[b>>4] += weight
		if _, ok := d.others[digits(b)]; ok && weight > 0 {
			taken = true
		}
	}
	for object := range d.notes {
		count(object[d.depth], 1)
	}
	for b, sub := range d.dirs {
		weight, err := n.weight(sub)
		if err != nil {
			return false, err
		}
		count(b, weight)
	}
	return !taken && slices.Min(next[:]) >= enough, nil
}

// enough is how many notes a digit needs.
const enough = 2

// weight counts the notes in d as far as it matters, up to enough.
// Whatever is a directory in the store, with nothing changed in it, is enough.
func (n *Notes) weight(d *dir) (int, error) {
	if !d.tree.IsZero() {
		return enough, nil
	}
	if err := n.read(d); err != nil {
		return 0, err
	}
	weight := len(d.notes)
	for _, sub := range d.dirs {
		if weight >= enough {
			break
		}
		w, err := n.weight(sub)
		if err != nil {
			return 0, err
		}
		weight += w
	}
	return min(weight, enough), nil
}

// flat is entries for a directory that is not spread.
func (n *Notes) flat(d *dir) ([]object.TreeEntry, error) {
	var entries []object.TreeEntry
	var failed error
	err := n.walk(d, func(note Note) bool {
		entries = append(entries, object.TreeEntry{
			Name: note.Object.String()[2*d.depth:],
			Mode: filemode.Regular,
			Hash: note.Blob,
		})
		failed = n.storeNote(note)
		return failed == nil
	})
	if failed != nil {
		return nil, failed
	}
	if err != nil {
		return nil, err
	}
	others, err := n.others(d)
	if err != nil {
		return nil, err
	}
	notes := entries
	for name, e := range others {
		// Where a note has this name, git prefers the note.
		_, taken := slices.BinarySearchFunc(notes, name, func(e object.TreeEntry, name string) int {
			return strings.Compare(e.Name, name)
		})
		if !taken {
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// others returns what a directory that is not spread holds besides notes:
// its own entries that are none, and subdirectories with such entries alone.
func (n *Notes) others(d *dir) (map[string]object.TreeEntry, error) {
	others := maps.Clone(d.others)
	for b, sub := range d.dirs {
		sub.tree = plumbing.ZeroHash // its notes are now in d's tree
		below, err := n.others(sub)
		if err != nil {
			return nil, err
		}
		if len(below) == 0 {
			continue
		}
		tree, err := n.store(slices.Collect(maps.Values(below)))
		if err != nil {
			return nil, err
		}
		if others == nil {
			others = make(map[string]object.TreeEntry)
		}
		others[digits(b)] = object.TreeEntry{Name: digits(b), Mode: filemode.Dir, Hash: tree}
	}
	return others, nil
}

// storeNote stores the blob of a note if it is not in the store.
func (n *Notes) storeNote(note Note) error {
	content, ok := n.fresh[note.Object]
	if !ok {
		return nil
	}
	o := n.s.NewEncodedObject()
	o.SetType(plumbing.BlobObject)
	w, err := o.Writer()
	if err == nil {
		_, err = w.Write(content)
	}
	if err == nil {
		err = w.Close()
	}
	if err == nil {
		_, err = n.s.SetEncodedObject(o)
	}
	if err != nil {
		return fmt.Errorf("store note of %s: %w", note.Object, err)
	}
	delete(n.fresh, note.Object)
	return nil
}

// store stores a tree.
func (n *Notes) store(entries []object.TreeEntry) (plumbing.Hash, error) {
	sort.Sort(object.TreeEntrySorter(entries))
	o := n.s.NewEncodedObject()
	err := (&object.Tree{Entries: entries}).Encode(o)
	var hash plumbing.Hash
	if err == nil {
		hash, err = n.s.SetEncodedObject(o)
	}
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("store notes tree: %w", err)
	}
	return hash, nil
}

// digits is the name of a subdirectory.
func digits(b byte) string { return hex.EncodeToString([]byte{b}) }
