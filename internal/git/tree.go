package git

import (
	"fmt"
	"sort"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// emptyTree is the hash of a tree without entries; git knows it without having it.
var emptyTree = plumbing.NewHash("4b825dc642cb6eb9a060e54bf8d69288fbee4904")

// An Entry is what a tree holds at a path. The zero Entry is nothing.
type Entry struct {
	Mode filemode.FileMode
	Hash plumbing.Hash
}

// EditTree returns the tree that base becomes when every path in changes gets its
// entry; the zero Entry removes the path. Paths are git's: bytes, with slashes.
// base may be zero, which is the empty tree. The new trees are staged.
func (o *Objects) EditTree(base plumbing.Hash, changes map[string]Entry) (plumbing.Hash, error) {
	entries, err := o.Tree(base)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	leaves := make(map[string]Entry)
	below := make(map[string]map[string]Entry)
	for path, entry := range changes {
		name, rest, nested := strings.Cut(path, "/")
		if !nested {
			leaves[name] = entry
			continue
		}
		if below[name] == nil {
			below[name] = make(map[string]Entry)
		}
		below[name][rest] = entry
	}
	for name, sub := range below {
		dir := plumbing.ZeroHash
		if e, ok := entries[name]; ok && e.Mode == filemode.Dir {
			dir = e.Hash
		}
		hash, err := o.EditTree(dir, sub)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		switch {
		case hash != emptyTree:
			entries[name] = Entry{filemode.Dir, hash}
		case entries[name].Mode == filemode.Dir:
			delete(entries, name)
		}
	}
	for name, entry := range leaves {
		switch {
		case entry.Mode != filemode.Empty:
			entries[name] = entry
		case below[name] == nil || entries[name].Mode != filemode.Dir:
			delete(entries, name) // else a directory has taken the file's place
		}
	}
	return o.writeTree(entries)
}

// Tree returns the entries of a tree by name. The zero hash is the empty tree.
func (o *Objects) Tree(hash plumbing.Hash) (map[string]Entry, error) {
	entries := make(map[string]Entry)
	if hash.IsZero() || hash == emptyTree {
		return entries, nil
	}
	tree, err := object.GetTree(o, hash)
	if err != nil {
		return nil, fmt.Errorf("read tree %s: %w", hash, err)
	}
	for _, e := range tree.Entries {
		entries[e.Name] = Entry{e.Mode, e.Hash}
	}
	return entries, nil
}

func (o *Objects) writeTree(entries map[string]Entry) (plumbing.Hash, error) {
	tree := object.Tree{Entries: make([]object.TreeEntry, 0, len(entries))}
	for name, e := range entries {
		tree.Entries = append(tree.Entries, object.TreeEntry{Name: name, Mode: e.Mode, Hash: e.Hash})
	}
	sort.Sort(object.TreeEntrySorter(tree.Entries))
	obj := new(plumbing.MemoryObject)
	if err := tree.Encode(obj); err != nil {
		return plumbing.ZeroHash, fmt.Errorf("write tree: %w", err)
	}
	return o.SetEncodedObject(obj)
}

// TreeOf returns the tree of a commit. The zero hash, an unborn branch, has the zero tree.
func (o *Objects) TreeOf(commit plumbing.Hash) (plumbing.Hash, error) {
	if commit.IsZero() {
		return plumbing.ZeroHash, nil
	}
	c, err := object.GetCommit(o, commit)
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("read commit %s: %w", commit, err)
	}
	return c.TreeHash, nil
}

// CommitTree stages a commit and returns its hash.
func (o *Objects) CommitTree(tree plumbing.Hash, parents []plumbing.Hash, author, committer object.Signature, message string) (plumbing.Hash, error) {
	c := object.Commit{Author: author, Committer: committer, Message: message, TreeHash: tree, ParentHashes: parents}
	obj := new(plumbing.MemoryObject)
	if err := c.Encode(obj); err != nil {
		return plumbing.ZeroHash, fmt.Errorf("write commit: %w", err)
	}
	return o.SetEncodedObject(obj)
}

// EmptyTree stages the tree without entries and returns its hash.
func (o *Objects) EmptyTree() (plumbing.Hash, error) { return o.writeTree(nil) }

// Parents returns the parents of a commit.
func (o *Objects) Parents(commit plumbing.Hash) ([]plumbing.Hash, error) {
	c, err := object.GetCommit(o, commit)
	if err != nil {
		return nil, fmt.Errorf("read commit %s: %w", commit, err)
	}
	return c.ParentHashes, nil
}
