package gitnotes

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
)

// ErrNotFound reports that an object has no note.
var ErrNotFound = errors.New("no note")

// A Note names the blob that is an object's note.
type Note struct {
	Object git.Hash // what the note is about; it need not exist
	Blob   git.Hash
}

// Notes are the notes of a commit, with changes made since. They are not safe
// for concurrent use.
type Notes struct {
	s      Store
	commit git.Hash // the commit opened or written last; zero if there is none
	tree   git.Hash // its tree
	root   *dir
	unread int // how many more entries may be read

	// fresh holds the content of notes whose blob is not in the store yet.
	fresh map[git.Hash][]byte
}

// Open returns the notes of a notes commit. The zero hash has no notes yet. The
// notes tree is read later, and only as far as needed.
func Open(s Store, commit git.Hash) (*Notes, error) {
	tree := s.Format().EmptyTree()
	root := &dir{}
	if !commit.IsZero() {
		c, err := readCommit(s, commit)
		if err != nil {
			return nil, err
		}
		tree = c.Tree
		root.unread = []git.Hash{tree}
	}
	root.tree = tree
	return &Notes{s: s, commit: commit, tree: tree, root: root, unread: maxEntries, fresh: make(map[git.Hash][]byte)}, nil
}

// Get returns the note of an object; the bytes are the caller's.
// If there is none, the error wraps [ErrNotFound].
func (n *Notes) Get(object git.Hash) ([]byte, error) {
	content, err := n.get(object)
	if err != nil {
		return nil, fmt.Errorf("get note of %s: %w", object, err)
	}
	return bytes.Clone(content), nil
}

// Set makes content the note of an object, whether or not it had one. Empty
// content makes an empty note, as `git notes add --allow-empty` does. Nothing
// is written before [Notes.Commit].
func (n *Notes) Set(object git.Hash, content []byte) error {
	if err := n.set(object, bytes.Clone(content)); err != nil {
		return fmt.Errorf("set note of %s: %w", object, err)
	}
	return nil
}

// Append adds line and a newline at the end of an object's note, and makes the
// note if there is none. A note that does not end in a newline gets one first.
// Nothing is written before [Notes.Commit].
func (n *Notes) Append(object git.Hash, line []byte) error {
	before, err := n.get(object)
	if err == nil || errors.Is(err, ErrNotFound) {
		content := make([]byte, 0, len(before)+len(line)+2)
		content = append(content, before...)
		if len(before) > 0 && before[len(before)-1] != '\n' {
			content = append(content, '\n')
		}
		content = append(content, line...)
		err = n.set(object, append(content, '\n'))
	}
	if err != nil {
		return fmt.Errorf("append to note of %s: %w", object, err)
	}
	return nil
}

// Remove removes the note of an object. If there is none, the error wraps
// [ErrNotFound].
func (n *Notes) Remove(object git.Hash) error {
	blob, err := n.lookup(object)
	if err == nil && blob.IsZero() {
		err = ErrNotFound
	}
	if err == nil {
		err = n.put(Note{Object: object})
	}
	if err != nil {
		return fmt.Errorf("remove note of %s: %w", object, err)
	}
	return nil
}

// All returns the notes in the order of the objects' hashes. An error ends the
// iteration. The notes must not be changed meanwhile.
//
// The blob of a note that was changed since [Notes.Commit], or joined from
// several, may not be stored; [Notes.Get] has its content.
func (n *Notes) All() iter.Seq2[Note, error] {
	return func(yield func(Note, error) bool) {
		err := n.walk(n.root, func(note Note) error {
			if !yield(note, nil) {
				return errStop
			}
			return nil
		})
		if err != nil && err != errStop {
			yield(Note{}, fmt.Errorf("list notes of %s: %w", n.commit, err))
		}
	}
}

// errStop ends a walk early.
var errStop = errors.New("stop")

// walk calls f with every note in d and below, in order, until an error.
func (n *Notes) walk(d *dir, f func(Note) error) error {
	if err := n.read(d); err != nil {
		return err
	}
	objects := slices.SortedFunc(maps.Keys(d.notes), git.Hash.Compare)
	some := func(count int) error {
		for _, object := range objects[:count] {
			if err := f(Note{object, d.notes[object]}); err != nil {
				return err
			}
		}
		objects = objects[count:]
		return nil
	}
	for _, b := range slices.Sorted(maps.Keys(d.dirs)) {
		before, _ := slices.BinarySearchFunc(objects, d.dirs[b].prefix, func(h git.Hash, prefix prefix) int {
			return bytes.Compare(h.Bytes(), prefix[:n.s.Format().Size()])
		})
		if err := some(before); err != nil {
			return err
		}
		if err := n.walk(d.dirs[b], f); err != nil {
			return err
		}
	}
	return some(len(objects))
}

// lookup returns the blob of an object's note, and the zero hash if it has
// none.
func (n *Notes) lookup(object git.Hash) (git.Hash, error) {
	path, err := n.path(object)
	if err != nil {
		return git.Hash{}, err
	}
	return path[len(path)-1].notes[object], nil
}

// get is Get without a copy.
func (n *Notes) get(object git.Hash) ([]byte, error) {
	blob, err := n.lookup(object)
	if err != nil {
		return nil, err
	}
	if blob.IsZero() {
		return nil, ErrNotFound
	}
	return n.content(Note{object, blob})
}

// content returns the content of a note, which must not be changed.
func (n *Notes) content(note Note) ([]byte, error) {
	if content, ok := n.fresh[note.Object]; ok {
		return content, nil
	}
	return n.blob(note.Blob)
}

func (n *Notes) blob(hash git.Hash) ([]byte, error) {
	content, err := n.s.Read(plumbing.BlobObject, hash, maxNote)
	return slices.Clip(content), err // appending must copy
}

// set is Set without a copy of content.
func (n *Notes) set(object git.Hash, content []byte) error {
	note := Note{object, n.s.Format().Object(plumbing.BlobObject, content)}
	blob, err := n.lookup(object)
	if err != nil || blob == note.Blob {
		return err
	}
	if err := n.put(note); err != nil {
		return err
	}
	n.fresh[object] = content
	return nil
}

// put makes a blob the note of an object, or removes it for the zero hash.
func (n *Notes) put(note Note) error {
	path, err := n.path(note.Object)
	if err != nil {
		return err
	}
	for _, d := range path {
		d.tree = git.Hash{}
	}
	last := path[len(path)-1]
	if note.Blob.IsZero() {
		delete(last.notes, note.Object)
	} else {
		last.add(note)
	}
	delete(n.fresh, note.Object)
	return nil
}
