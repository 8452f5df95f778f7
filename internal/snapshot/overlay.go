package snapshot

import (
	"fmt"
	"sort"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"gitagent/internal/git"
)

// emptyTree is the hash of a tree without entries; git knows it without having it.
var emptyTree = plumbing.NewHash("4b825dc642cb6eb9a060e54bf8d69288fbee4904")

// overlay returns the tree that base becomes when every path in changes gets its
// state; a zero mode removes the path. base may be zero, which is the empty tree.
func overlay(o *git.Objects, base plumbing.Hash, changes map[string]entryState) (plumbing.Hash, error) {
	entries, err := readTree(o, base)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	leaves := make(map[string]entryState)
	below := make(map[string]map[string]entryState)
	for path, state := range changes {
		name, rest, nested := strings.Cut(path, "/")
		if !nested {
			leaves[name] = state
			continue
		}
		if below[name] == nil {
			below[name] = make(map[string]entryState)
		}
		below[name][rest] = state
	}
	for name, sub := range below {
		dir := plumbing.ZeroHash
		if e, ok := entries[name]; ok && e.mode == filemode.Dir {
			dir = e.hash
		}
		hash, err := overlay(o, dir, sub)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		switch {
		case hash != emptyTree:
			entries[name] = entryState{filemode.Dir, hash}
		case entries[name].mode == filemode.Dir:
			delete(entries, name)
		}
	}
	for name, state := range leaves {
		switch {
		case state.mode != filemode.Empty:
			entries[name] = state
		case below[name] == nil:
			delete(entries, name) // else a directory has taken the file's place
		}
	}
	return writeTree(o, entries)
}

func readTree(o *git.Objects, hash plumbing.Hash) (map[string]entryState, error) {
	entries := make(map[string]entryState)
	if hash.IsZero() || hash == emptyTree {
		return entries, nil
	}
	tree, err := object.GetTree(o, hash)
	if err != nil {
		return nil, fmt.Errorf("read tree %s: %w", hash, err)
	}
	for _, e := range tree.Entries {
		entries[e.Name] = entryState{e.Mode, e.Hash}
	}
	return entries, nil
}

func writeTree(o *git.Objects, entries map[string]entryState) (plumbing.Hash, error) {
	tree := object.Tree{Entries: make([]object.TreeEntry, 0, len(entries))}
	for name, e := range entries {
		tree.Entries = append(tree.Entries, object.TreeEntry{Name: name, Mode: e.mode, Hash: e.hash})
	}
	sort.Sort(object.TreeEntrySorter(tree.Entries))
	obj := new(plumbing.MemoryObject)
	if err := tree.Encode(obj); err != nil {
		return plumbing.ZeroHash, fmt.Errorf("write tree: %w", err)
	}
	return o.SetEncodedObject(obj)
}
