package git

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// An Entry is what a tree holds at a path; the zero Entry is nothing.
type Entry struct {
	Mode filemode.FileMode
	Hash Hash
}

// EditTree sets the paths of changes in base, the zero hash for the empty tree;
// a zero Entry removes. Paths are git's bytes. New trees are staged.
func (o *Objects) EditTree(base Hash, changes map[string]Entry) (Hash, error) {
	entries, err := o.Tree(base, MaxTree)
	if err != nil {
		return Hash{}, err
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
		dir := Hash{}
		if e, ok := entries[name]; ok && e.Mode == filemode.Dir {
			dir = e.Hash
		}
		hash, err := o.EditTree(dir, sub)
		if err != nil {
			return Hash{}, err
		}
		switch {
		case hash != o.format.EmptyTree():
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

// Tree returns the entries by name of a tree of at most most bytes; as in git,
// the first of a name. The zero hash is the empty tree.
func (o *Objects) Tree(hash Hash, most int64) (map[string]Entry, error) {
	if hash.IsZero() || hash == o.format.EmptyTree() {
		return make(map[string]Entry), nil
	}
	content, err := o.Read(plumbing.TreeObject, hash, most)
	if err != nil {
		return nil, err
	}
	entries, err := TreeMap(o.format, content)
	if err != nil {
		return nil, fmt.Errorf("read tree %s: %w", hash, err)
	}
	return entries, nil
}

// TreeMap returns the entries of a tree's content; see [Objects.Tree].
func TreeMap(format Format, content []byte) (map[string]Entry, error) {
	list, err := ParseTree(format, content)
	entries := make(map[string]Entry, len(list))
	for _, e := range slices.Backward(list) {
		entries[e.Name] = e.Entry
	}
	return entries, err
}

func (o *Objects) writeTree(entries map[string]Entry) (Hash, error) {
	list := make([]TreeEntry, 0, len(entries))
	for name, e := range entries {
		list = append(list, TreeEntry{name, e})
	}
	content, err := EncodeTree(o.format, list)
	if err != nil {
		return Hash{}, fmt.Errorf("write tree: %w", err)
	}
	return o.Write(plumbing.TreeObject, content)
}

// EmptyTree stages the empty tree and returns its hash.
func (o *Objects) EmptyTree() (Hash, error) { return o.writeTree(nil) }

// Commit reads a commit; the error may wrap [plumbing.ErrObjectNotFound].
func (o *Objects) Commit(hash Hash) (*Commit, error) {
	content, err := o.Read(plumbing.CommitObject, hash, MaxCommit)
	if err != nil {
		return nil, err
	}
	c, err := ParseCommit(content)
	if err != nil {
		return nil, fmt.Errorf("read commit %s: %w", hash, err)
	}
	return c, nil
}

// TreeOf returns a commit's tree; for the zero hash, an unborn branch, zero.
func (o *Objects) TreeOf(commit Hash) (Hash, error) {
	if commit.IsZero() {
		return Hash{}, nil
	}
	c, err := o.Commit(commit)
	if err != nil {
		return Hash{}, err
	}
	return c.Tree, nil
}

// Parents returns the parents of a commit.
func (o *Objects) Parents(commit Hash) ([]Hash, error) {
	c, err := o.Commit(commit)
	if err != nil {
		return nil, err
	}
	return c.Parents, nil
}

// CommitTree stages a commit and returns its hash.
func (o *Objects) CommitTree(tree Hash, parents []Hash, author, committer Signature, message string) (Hash, error) {
	if !o.format.Names(tree) || !o.format.Names(parents...) {
		return Hash{}, fmt.Errorf("write commit: %s or a parent of %v is not of the format %s", tree, parents, o.format)
	}
	c := Commit{tree, parents, author, committer, message}
	return o.Write(plumbing.CommitObject, c.Encode())
}

// A TreeEntry is one entry of a tree.
type TreeEntry struct {
	Name string // git's bytes
	Entry
}

var errTree = errors.New("not a tree")

// ParseTree parses a tree, which if untrusted may be unsorted and repeat names.
// Modes become git's.
func ParseTree(format Format, content []byte) ([]TreeEntry, error) {
	var entries []TreeEntry
	for len(content) > 0 {
		head, rest, ok := bytes.Cut(content, []byte{0})
		mode, name, spaced := strings.Cut(string(head), " ")
		bits, err := strconv.ParseUint(mode, 8, 32)
		if !ok || !spaced || err != nil || name == "" || len(rest) < format.Size() {
			return nil, errTree
		}
		entries = append(entries, TreeEntry{name, Entry{canonical(filemode.FileMode(bits)), format.Hash(rest)}})
		content = rest[format.Size():]
	}
	return entries, nil
}

// canonical returns the mode that git takes m for.
func canonical(m filemode.FileMode) filemode.FileMode {
	switch m & 0o170000 {
	case filemode.Dir:
		return filemode.Dir
	case filemode.Symlink:
		return filemode.Symlink
	case 0o100000:
		if m&0o100 != 0 {
			return filemode.Executable
		}
		return filemode.Regular
	default:
		return filemode.Submodule
	}
}

// EncodeTree returns the content of a tree, in git's order of entries.
func EncodeTree(format Format, entries []TreeEntry) ([]byte, error) {
	slices.SortFunc(entries, compareEntries)
	var b bytes.Buffer
	for _, e := range entries {
		if e.Name == "" || strings.IndexByte(e.Name, 0) >= 0 {
			return nil, fmt.Errorf("%q can't be a name in a tree", e.Name)
		}
		if !format.Names(e.Hash) {
			return nil, fmt.Errorf("%s can't be in a tree of the format %s", e.Hash, format)
		}
		b.WriteString(strconv.FormatUint(uint64(e.Mode), 8) + " " + e.Name + "\x00")
		b.Write(format.Append(b.AvailableBuffer(), e.Hash))
	}
	return b.Bytes(), nil
}

// compareEntries orders names by bytes, directories as if followed by a slash.
func compareEntries(a, b TreeEntry) int {
	n := min(len(a.Name), len(b.Name))
	return cmp.Or(strings.Compare(a.Name[:n], b.Name[:n]), cmp.Compare(a.at(n), b.at(n)))
}

func (e TreeEntry) at(n int) byte {
	switch {
	case n < len(e.Name):
		return e.Name[n]
	case e.Mode == filemode.Dir:
		return '/'
	default:
		return 0
	}
}

// Share unstages what a staged tree shares with a stored one: a worktree
// differs from HEAD mostly by what earlier turns wrote. stored and all in it
// must be in the database, and the caller must not flush meanwhile.
func (o *Objects) Share(tree, stored Hash) error {
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

// Staged reports whether an object waits for [Objects.Flush].
func (o *Objects) Staged(h Hash) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Contains(o.staged, h)
}

// unstage keeps an object from being written. It can still be read.
func (o *Objects) unstage(h Hash) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if i := slices.Index(o.staged, h); i >= 0 {
		o.staged = slices.Delete(o.staged, i, i+1)
	}
}

// Lookup returns a tree's entry at a path, zero if there is none.
func (o *Objects) Lookup(tree Hash, path string) (Entry, error) {
	e := Entry{Mode: filemode.Dir, Hash: tree}
	for name := range strings.SplitSeq(path, "/") {
		if e.Mode != filemode.Dir {
			return Entry{}, nil
		}
		entries, err := o.Tree(e.Hash, MaxTree)
		if err != nil {
			return Entry{}, err
		}
		e = entries[name]
	}
	return e, nil
}
