package gitnotes

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git/object"
)

// Commit writes what changed, and a commit whose only parent is the opened
// commit, if there was one, and returns its hash. The message is stored as it
// is; git's end in a newline. When nothing changed, Commit writes nothing and
// returns the opened commit.
//
// The Notes continue from the new commit.
func (n *Notes) Commit(author, committer object.Signature, message string) (object.Hash, error) {
	tree, err := n.write(n.root)
	if err != nil {
		return object.Hash{}, fmt.Errorf("commit notes: %w", err)
	}
	if tree == n.tree {
		return n.commit, nil
	}
	c := &object.Commit{Tree: tree, Author: author, Committer: committer, Message: message}
	if !n.commit.IsZero() {
		c.Parents = []object.Hash{n.commit}
	}
	return n.advance(c)
}

// advance writes a commit of the notes and continues from it.
func (n *Notes) advance(c *object.Commit) (object.Hash, error) {
	hash, err := n.s.Write(plumbing.CommitObject, c.Encode())
	if err != nil {
		return object.Hash{}, fmt.Errorf("commit notes: %w", err)
	}
	n.commit, n.tree = hash, c.Tree
	return hash, nil
}

// write stores d, unless already stored, and returns its tree. An empty
// directory has none, unless it is the root.
func (n *Notes) write(d *dir) (object.Hash, error) {
	if !d.tree.IsZero() {
		return d.tree, nil
	}
	entries, err := n.entries(d)
	if err != nil || len(entries) == 0 && d != n.root {
		return object.Hash{}, err
	}
	d.tree, err = n.store(entries)
	return d.tree, err
}

// entries returns the entries of d's tree, and stores their objects.
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
			entries[digits(b)] = object.TreeEntry{Name: digits(b), Entry: object.Entry{Mode: filemode.Dir, Hash: tree}}
		}
	}
	return slices.Collect(maps.Values(entries)), nil
}

// fansOut reports whether to spread d, by git's rule in the package comment.
func (n *Notes) fansOut(d *dir) (bool, error) {
	if d.depth == n.maxDepth() {
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
	for on := range d.notes {
		count(on.Byte(d.depth), 1)
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

// enough is how many notes each digit needs.
const enough = 2

// weight counts the notes in d up to enough, which an unchanged directory has.
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

// flat is entries for a directory that does not fan out.
func (n *Notes) flat(d *dir) ([]object.TreeEntry, error) {
	var entries []object.TreeEntry
	err := n.walk(d, func(note Note) error {
		entries = append(entries, object.TreeEntry{
			Name:  note.Object.String()[2*d.depth:],
			Entry: object.Entry{Mode: filemode.Regular, Hash: note.Blob},
		})
		return n.storeNote(note)
	})
	if err != nil {
		return nil, err
	}
	others, err := n.others(d)
	if err != nil {
		return nil, err
	}
	notes := entries
	for name, e := range others {
		// Git prefers a note of this name.
		_, taken := slices.BinarySearchFunc(notes, name, func(e object.TreeEntry, name string) int {
			return strings.Compare(e.Name, name)
		})
		if !taken {
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// others returns a flat directory's other entries, and subdirectories with
// them.
func (n *Notes) others(d *dir) (map[string]object.TreeEntry, error) {
	others := maps.Clone(d.others)
	for b, sub := range d.dirs {
		sub.tree = object.Hash{} // its notes are now in d's tree
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
		others[digits(b)] = object.TreeEntry{Name: digits(b), Entry: object.Entry{Mode: filemode.Dir, Hash: tree}}
	}
	return others, nil
}

// storeNote stores the note's blob if it is not in the store yet.
func (n *Notes) storeNote(note Note) error {
	content, ok := n.fresh[note.Object]
	if !ok {
		return nil
	}
	if _, err := n.s.Write(plumbing.BlobObject, content); err != nil {
		return fmt.Errorf("store note of %s: %w", note.Object, err)
	}
	delete(n.fresh, note.Object)
	return nil
}

// store stores a tree.
func (n *Notes) store(entries []object.TreeEntry) (object.Hash, error) {
	content, err := object.EncodeTree(n.s.Format(), entries)
	var hash object.Hash
	if err == nil {
		hash, err = n.s.Write(plumbing.TreeObject, content)
	}
	if err != nil {
		return object.Hash{}, fmt.Errorf("store notes tree: %w", err)
	}
	return hash, nil
}

// digits returns the name of a subdirectory.
func digits(b byte) string { return hex.EncodeToString([]byte{b}) }
