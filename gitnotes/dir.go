package gitnotes

import (
	"bytes"
	"encoding/hex"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git/object"
)

// A dir is a directory of a notes tree: the notes of objects that begin with
// prefix. Memory has all directories of the store, and may have more where the
// store has a flat one. A note is in the deepest directory that exists for it,
// so there is one place to look for it.
type dir struct {
	prefix prefix
	depth  int
	tree   object.Hash // as stored; zero if not stored, or stored differently

	notes  map[object.Hash]object.Hash // object to blob
	dirs   map[byte]*dir               // by the byte at depth
	others map[string]object.TreeEntry // entries that are no notes, by name

	// What belongs here but was not read yet: trees, and notes that a tree
	// further up holds although this directory exists.
	unread []object.Hash
	late   []Note
}

// A prefix has the first bytes of objects' hashes, as many as the depth of a
// directory; the others are zero.
type prefix [32]byte

// maxDepth is the depth at which the names of notes have only two digits left.
func (n *Notes) maxDepth() int { return n.s.Format().Size() - 1 }

// path returns the directories from the root to the one that holds the note of
// object, or would. All of them have been read.
func (n *Notes) path(on object.Hash) ([]*dir, error) {
	if on.Format() != n.s.Format() {
		return nil, fmt.Errorf("%q names no object here: %w", on, ErrNotFound)
	}
	var path []*dir
	for d := n.root; d != nil; d = d.dirs[on.Byte(d.depth)] {
		if err := n.read(d); err != nil {
			return nil, err
		}
		path = append(path, d)
	}
	return path, nil
}

// read fills d from the store, once. After an error d is unchanged.
func (n *Notes) read(d *dir) error {
	if len(d.unread) == 0 && len(d.late) == 0 {
		return nil
	}
	full := &dir{prefix: d.prefix, depth: d.depth, tree: d.tree}
	var notes []Note
	format := n.s.Format()
	for _, hash := range d.unread {
		entries, err := readTree(n.s, hash)
		if err != nil {
			return err
		}
		if n.unread -= len(entries); n.unread < 0 {
			return fmt.Errorf("read notes tree %s: more than %d entries", hash, maxEntries)
		}
		for _, e := range entries {
			rest, err := hex.DecodeString(e.Name)
			name := d.prefix
			copy(name[d.depth:], rest)
			switch on := format.Hash(name[:]); {
			case err == nil && len(rest) == format.Size()-d.depth && isFile(e.Mode) && !on.IsZero():
				notes = append(notes, Note{on, e.Hash})
			case err == nil && len(rest) == 1 && d.depth < n.maxDepth() && e.Mode == filemode.Dir:
				sub := full.sub(rest[0])
				sub.unread = append(sub.unread, e.Hash)
				if len(sub.unread) == 1 {
					sub.tree = e.Hash
				} else {
					sub.tree = object.Hash{} // "AB" beside "ab"
				}
			default:
				if full.others == nil {
					full.others = make(map[string]object.TreeEntry)
				}
				full.others[e.Name] = e
			}
		}
	}
	if err := n.fill(full, append(notes, d.late...)); err != nil {
		return err
	}
	*d = *full
	return nil
}

// fill puts notes into d. Git reads a subdirectory before the notes beside it,
// and joins an object's notes in that order; so a note from here that belongs
// further down waits there, after the others.
func (n *Notes) fill(d *dir, notes []Note) error {
	several := make(map[object.Hash][]object.Hash)
	for _, note := range notes {
		if sub := d.dirs[note.Object.Byte(d.depth)]; sub != nil {
			sub.tree = object.Hash{}
			sub.late = append(sub.late, note)
		} else if first, ok := d.notes[note.Object]; !ok {
			d.add(note)
		} else if blobs := several[note.Object]; blobs == nil {
			several[note.Object] = []object.Hash{first, note.Blob}
		} else {
			several[note.Object] = append(blobs, note.Blob)
		}
	}
	for on, blobs := range several {
		if err := n.join(d, on, blobs); err != nil {
			return err
		}
	}
	return nil
}

// join makes one note of an object's several, with a blank line between two of
// them, leaving out empty and repeated ones.
func (n *Notes) join(d *dir, on object.Hash, blobs []object.Hash) error {
	whole := blobs[0] // the blob of content, zero if it comes from more than one
	content, err := n.blob(whole)
	if err != nil {
		return err
	}
	for _, blob := range blobs[1:] {
		if blob == whole {
			continue
		}
		next, err := n.blob(blob)
		switch {
		case err != nil:
			return err
		case len(next) == 0:
		case len(content) == 0:
			content, whole = next, blob
		default:
			content = append(bytes.TrimSuffix(content, []byte("\n")), "\n\n"...)
			content, whole = append(content, next...), object.Hash{}
		}
	}
	if whole.IsZero() {
		whole = n.s.Format().Object(plumbing.BlobObject, content)
		n.fresh[on] = content
	}
	d.notes[on] = whole
	return nil
}

// isFile reports whether an entry of this mode can be a note.
func isFile(m filemode.FileMode) bool {
	return m == filemode.Regular || m == filemode.Executable
}

func (d *dir) add(note Note) {
	if d.notes == nil {
		d.notes = make(map[object.Hash]object.Hash)
	}
	d.notes[note.Object] = note.Blob
}

// sub returns the subdirectory of d for the byte b, which it makes if needed.
func (d *dir) sub(b byte) *dir {
	sub := d.dirs[b]
	if sub == nil {
		if d.dirs == nil {
			d.dirs = make(map[byte]*dir)
		}
		sub = &dir{prefix: d.prefix, depth: d.depth + 1}
		sub.prefix[d.depth] = b
		d.dirs[b] = sub
	}
	return sub
}

func (d *dir) spread() {
	for on, blob := range d.notes {
		d.sub(on.Byte(d.depth)).add(Note{on, blob})
	}
	d.notes = nil
}
