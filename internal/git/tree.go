package git

import (
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// emptyTree is the hash of a tree without entries; git knows it without having it.
var emptyTree = plumbing.NewHash("4b825dc642cb6eb9a060e54bf8d69288fbee4904")

// An Entry is what a tree holds at a path. The zero Entry stands for nothing.
type Entry struct {
	Mode filemode.FileMode
	Hash plumbing.Hash
}

// EditTree returns the tree that results from base when every path in changes gets its entry; the
// zero Entry removes the path. Paths are git's: bytes, with slashes. A zero base is the empty tree.
// The new trees are staged.
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
			delete(entries, name) // otherwise a directory has replaced the file
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
	content, err := o.Read(plumbing.TreeObject, hash)
	if err != nil {
		return nil, err
	}
	list, err := ParseTree(content)
	if err != nil {
		return nil, fmt.Errorf("read tree %s: %w", hash, err)
	}
	for _, e := range list {
		entries[e.Name] = e.Entry
	}
	return entries, nil
}

func (o *Objects) writeTree(entries map[string]Entry) (plumbing.Hash, error) {
	list := make([]TreeEntry, 0, len(entries))
	for name, e := range entries {
		list = append(list, TreeEntry{name, e})
	}
	content, err := EncodeTree(list)
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("write tree: %w", err)
	}
	return o.Write(plumbing.TreeObject, content)
}

// EmptyTree stages the tree without entries and returns its hash.
func (o *Objects) EmptyTree() (plumbing.Hash, error) { return o.writeTree(nil) }

// Commit reads a commit. If there is none, the error wraps [plumbing.ErrObjectNotFound].
func (o *Objects) Commit(hash plumbing.Hash) (*Commit, error) {
	content, err := o.Read(plumbing.CommitObject, hash)
	if err != nil {
		return nil, err
	}
	c, err := ParseCommit(content)
	if err != nil {
		return nil, fmt.Errorf("read commit %s: %w", hash, err)
	}
	return c, nil
}

// TreeOf returns the tree of a commit. The zero hash (an unborn branch) gives the zero hash.
func (o *Objects) TreeOf(commit plumbing.Hash) (plumbing.Hash, error) {
	if commit.IsZero() {
		return plumbing.ZeroHash, nil
	}
	c, err := o.Commit(commit)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return c.Tree, nil
}

// Parents returns the parents of a commit.
func (o *Objects) Parents(commit plumbing.Hash) ([]plumbing.Hash, error) {
	c, err := o.Commit(commit)
	if err != nil {
		return nil, err
	}
	return c.Parents, nil
}

// CommitTree stages a commit and returns its hash.
func (o *Objects) CommitTree(tree plumbing.Hash, parents []plumbing.Hash, author, committer Signature, message string) (plumbing.Hash, error) {
	c := Commit{tree, parents, author, committer, message}
	return o.Write(plumbing.CommitObject, c.Encode())
}
