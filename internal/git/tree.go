package git

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git/object"
)

// EditTree sets the paths of changes in base, the zero hash for the empty tree;
// a zero Entry removes. Paths are git's bytes. New trees are staged.
func (o *Objects) EditTree(base object.Hash, changes map[string]object.Entry) (object.Hash, error) {
	entries, err := o.Tree(base, MaxTree)
	if err != nil {
		return object.Hash{}, err
	}
	leaves := make(map[string]object.Entry)
	below := make(map[string]map[string]object.Entry)
	for path, entry := range changes {
		name, rest, nested := strings.Cut(path, "/")
		if !nested {
			leaves[name] = entry
			continue
		}
		if below[name] == nil {
			below[name] = make(map[string]object.Entry)
		}
		below[name][rest] = entry
	}
	for name, sub := range below {
		dir := object.Hash{}
		if e, ok := entries[name]; ok && e.Mode == filemode.Dir {
			dir = e.Hash
		}
		hash, err := o.EditTree(dir, sub)
		if err != nil {
			return object.Hash{}, err
		}
		switch {
		case hash != o.format.EmptyTree():
			entries[name] = object.Entry{Mode: filemode.Dir, Hash: hash}
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

// Tree returns the entries by name of a tree of at most most bytes; as in git,
// the first of a name. The zero hash is the empty tree.
func (o *Objects) Tree(hash object.Hash, most int64) (map[string]object.Entry, error) {
	if hash.IsZero() || hash == o.format.EmptyTree() {
		return make(map[string]object.Entry), nil
	}
	content, err := o.Read(plumbing.TreeObject, hash, most)
	if err != nil {
		return nil, err
	}
	entries, err := object.TreeMap(o.format, content)
	if err != nil {
		return nil, fmt.Errorf("read tree %s: %w", hash, err)
	}
	return entries, nil
}

func (o *Objects) writeTree(entries map[string]object.Entry) (object.Hash, error) {
	list := make([]object.TreeEntry, 0, len(entries))
	for name, e := range entries {
		list = append(list, object.TreeEntry{Name: name, Entry: e})
	}
	content, err := object.EncodeTree(o.format, list)
	if err != nil {
		return object.Hash{}, fmt.Errorf("write tree: %w", err)
	}
	return o.Write(plumbing.TreeObject, content)
}

// EmptyTree stages the empty tree and returns its hash.
func (o *Objects) EmptyTree() (object.Hash, error) { return o.writeTree(nil) }

// Commit reads a commit; the error may wrap [plumbing.ErrObjectNotFound].
func (o *Objects) Commit(hash object.Hash) (*object.Commit, error) {
	content, err := o.Read(plumbing.CommitObject, hash, MaxCommit)
	if err != nil {
		return nil, err
	}
	c, err := object.ParseCommit(content)
	if err != nil {
		return nil, fmt.Errorf("read commit %s: %w", hash, err)
	}
	return c, nil
}

// TreeOf returns a commit's tree; for the zero hash, an unborn branch, zero.
func (o *Objects) TreeOf(commit object.Hash) (object.Hash, error) {
	if commit.IsZero() {
		return object.Hash{}, nil
	}
	c, err := o.Commit(commit)
	if err != nil {
		return object.Hash{}, err
	}
	return c.Tree, nil
}

// Parents returns the parents of a commit.
func (o *Objects) Parents(commit object.Hash) ([]object.Hash, error) {
	c, err := o.Commit(commit)
	if err != nil {
		return nil, err
	}
	return c.Parents, nil
}

// CommitTree stages a commit and returns its hash.
func (o *Objects) CommitTree(tree object.Hash, parents []object.Hash, author, committer object.Signature, message string) (object.Hash, error) {
	if !o.format.Names(tree) || !o.format.Names(parents...) {
		return object.Hash{}, fmt.Errorf("write commit: %s or a parent of %v is not of the format %s", tree, parents, o.format)
	}
	c := object.Commit{Tree: tree, Parents: parents, Author: author, Committer: committer, Message: message}
	return o.Write(plumbing.CommitObject, c.Encode())
}

// Share unstages what a staged tree shares with a stored one: a worktree
// differs from HEAD mostly by what earlier turns wrote. stored and all in it
// must be in the database, and the caller must not flush meanwhile.
func (o *Objects) Share(tree, stored object.Hash) error {
	if o.written(tree) == nil {
		return nil // then nothing in the tree is staged either
	}
	entries, err := o.Tree(tree, MaxTree)
	if err != nil {
		return err
	}
	old := entries
	if tree == stored {
		o.unstage(tree)
	} else if old, err = o.Tree(stored, MaxTree); err != nil {
		return err
	}
	for name, e := range entries {
		switch before := old[name]; {
		case e.Mode == filemode.Dir && before.Mode == filemode.Dir:
			if err := o.Share(e.Hash, before.Hash); err != nil {
				return err
			}
		case e.Mode != filemode.Dir && e.Hash == before.Hash:
			o.unstage(e.Hash)
		}
	}
	return nil
}

// FlushTrees is [Objects.Flush] for what is staged of some trees, and nothing else.
func (o *Objects) FlushTrees(trees ...object.Hash) error {
	o.flushMu.Lock()
	defer o.flushMu.Unlock()
	o.mu.Lock()
	staged := make(map[object.Hash]bool, len(o.staged))
	for _, h := range o.staged {
		staged[h] = true
	}
	o.mu.Unlock()
	var list []*Object
	of := make(map[object.Hash]bool)
	var take func(h object.Hash, isTree bool) error
	take = func(h object.Hash, isTree bool) error {
		obj := o.written(h)
		if obj == nil || of[h] { // if it is not, nothing in a tree is staged either
			return nil
		}
		if of[h] = true; staged[h] {
			list = append(list, obj)
		}
		if !isTree {
			return nil
		}
		entries, err := o.Tree(h, MaxTree)
		for _, e := range entries {
			err = cmp.Or(err, take(e.Hash, e.Mode == filemode.Dir))
		}
		return err
	}
	for _, tree := range trees {
		if err := take(tree, true); err != nil {
			return err
		}
	}
	if len(list) == 0 {
		return nil
	}
	if err := o.writePack(list); err != nil {
		return fmt.Errorf("write %d objects: %w", len(list), err)
	}
	o.mu.Lock()
	o.staged = slices.DeleteFunc(o.staged, func(h object.Hash) bool { return staged[h] && of[h] })
	o.mu.Unlock()
	return nil
}

// Staged reports whether an object waits for [Objects.Flush].
func (o *Objects) Staged(h object.Hash) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Contains(o.staged, h)
}

// unstage keeps an object from being written. It can still be read.
func (o *Objects) unstage(h object.Hash) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if i := slices.Index(o.staged, h); i >= 0 {
		o.staged = slices.Delete(o.staged, i, i+1)
	}
}

// Lookup returns a tree's entry at a path, zero if there is none.
func (o *Objects) Lookup(tree object.Hash, path string) (object.Entry, error) {
	e := object.Entry{Mode: filemode.Dir, Hash: tree}
	for name := range strings.SplitSeq(path, "/") {
		if e.Mode != filemode.Dir {
			return object.Entry{}, nil
		}
		entries, err := o.Tree(e.Hash, MaxTree)
		if err != nil {
			return object.Entry{}, err
		}
		e = entries[name]
	}
	return e, nil
}
