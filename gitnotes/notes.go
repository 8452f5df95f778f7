package gitnotes

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git/object"
)

// ErrNotFound reports that an object has no note.
var ErrNotFound = errors.New("no note")

// A Note names the blob that is an object's note.
type Note struct {
	Object object.Hash // what the note is about; it need not exist
	Blob   object.Hash
}

// Notes are the notes of a commit, with changes made since. They are not safe
// for concurrent use.
type Notes struct {
	s      Store
	commit object.Hash // the commit opened or written last; zero if there is none
	tree   object.Hash // its tree
	root   *dir
	unread int // how many more entries may be read

	// fresh holds the content of notes whose blob is not in the store yet.
	fresh map[object.Hash][]byte
}

// Open returns the notes of a notes commit. The zero hash has no notes yet. The
// notes tree is read later, and only as far as needed.
func Open(s Store, commit object.Hash) (*Notes, error) {
	tree := s.Format().EmptyTree()
	root := &dir{}
	if !commit.IsZero() {
		c, err := readCommit(s, commit)
		if err != nil {
			return nil, err
		}
		tree = c.Tree
		root.unread = []object.Hash{tree}
	}
	root.tree = tree
	return &Notes{s: s, commit: commit, tree: tree, root: root, unread: maxEntries, fresh: make(map[object.Hash][]byte)}, nil
}

// Get returns the note of an object; the bytes are the caller's.
// If there is none, the error wraps [ErrNotFound].
func (n *Notes) Get(on object.Hash) ([]byte, error) {
	content, err := n.get(on)
	if err != nil {
		return nil, fmt.Errorf("get note of %s: %w", on, err)
	}
	return bytes.Clone(content), nil
}

// Set makes content the note of an object, whether or not it had one. Empty
// content makes an empty note, as `git notes add --allow-empty` does. Nothing
// is written before [Notes.Commit].
func (n *Notes) Set(on object.Hash, content []byte) error {
	if err := n.set(on, bytes.Clone(content)); err != nil {
		return fmt.Errorf("set note of %s: %w", on, err)
	}
	return nil
}

// Append adds line and a newline at the end of an object's note, and makes the
// note if there is none. A note that does not end in a newline gets one first.
// Nothing is written before [Notes.Commit].
func (n *Notes) Append(on object.Hash, line []byte) error {
	before, err := n.get(on)
	if err == nil || errors.Is(err, ErrNotFound) {
		content := make([]byte, 0, len(before)+len(line)+2)
		content = append(content, before...)
		if len(before) > 0 && before[len(before)-1] != '\n' {
			content = append(content, '\n')
		}
		content = append(content, line...)
		err = n.set(on, append(content, '\n'))
	}
	if err != nil {
		return fmt.Errorf("append to note of %s: %w", on, err)
	}
	return nil
}

// Remove removes the note of an object. If there is none, the error wraps
// [ErrNotFound].
func (n *Notes) Remove(on object.Hash) error {
	blob, err := n.lookup(on)
	if err == nil && blob.IsZero() {
		err = ErrNotFound
	}
	if err == nil {
		err = n.put(Note{Object: on})
	}
	if err != nil {
		return fmt.Errorf("remove note of %s: %w", on, err)
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
	objects := slices.SortedFunc(maps.Keys(d.notes), object.Hash.Compare)
	some := func(count int) error {
		for _, on := range objects[:count] {
			if err := f(Note{on, d.notes[on]}); err != nil {
				return err
			}
		}
		objects = objects[count:]
		return nil
	}
	for _, b := range slices.Sorted(maps.Keys(d.dirs)) {
		before, _ := slices.BinarySearchFunc(objects, d.dirs[b].prefix, func(h object.Hash, prefix prefix) int {
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
func (n *Notes) lookup(on object.Hash) (object.Hash, error) {
	path, err := n.path(on)
	if err != nil {
		return object.Hash{}, err
	}
	return path[len(path)-1].notes[on], nil
}

// get is Get without a copy.
func (n *Notes) get(on object.Hash) ([]byte, error) {
	blob, err := n.lookup(on)
	if err != nil {
		return nil, err
	}
	if blob.IsZero() {
		return nil, ErrNotFound
	}
	return n.content(Note{on, blob})
}

// content returns the content of a note, which must not be changed.
func (n *Notes) content(note Note) ([]byte, error) {
	if content, ok := n.fresh[note.Object]; ok {
		return content, nil
	}
	return n.blob(note.Blob)
}

func (n *Notes) blob(hash object.Hash) ([]byte, error) {
	content, err := n.s.Read(plumbing.BlobObject, hash, maxNote)
	return slices.Clip(content), err // appending must copy
}

// set is Set without a copy of content.
func (n *Notes) set(on object.Hash, content []byte) error {
	note := Note{on, n.s.Format().Object(plumbing.BlobObject, content)}
	blob, err := n.lookup(on)
	if err != nil || blob == note.Blob {
		return err
	}
	if err := n.put(note); err != nil {
		return err
	}
	n.fresh[on] = content
	return nil
}

// put makes a blob the note of an object, or removes it for the zero hash.
func (n *Notes) put(note Note) error {
	path, err := n.path(note.Object)
	if err != nil {
		return err
	}
	for _, d := range path {
		d.tree = object.Hash{}
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
