package git

import (
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git/object"
)

// Reads are objects to read for many things at once: what one of them holds may
// make others wanted. The zero value is ready for use.
type Reads struct {
	format object.Format // of the objects
	next   []wanted
}

type wanted struct {
	Wanted
	kind plumbing.ObjectType
	take func([]byte, error)
}

// Want lets [Reads.Run] call take with the content of an object, or with why it
// can't be read, as when it is of another type or has more than most bytes.
func (r *Reads) Want(h object.Hash, t plumbing.ObjectType, most int64, take func([]byte, error)) {
	r.next = append(r.next, wanted{Wanted{h, most}, t, take})
}

// Run reads what is wanted, and what that makes wanted, to the end.
func (r *Reads) Run(objects *Objects) error {
	r.format = objects.Format()
	for len(r.next) > 0 {
		next := r.next
		r.next = nil
		list := make([]Wanted, len(next))
		for i, w := range next {
			list[i] = w.Wanted
		}
		err := objects.Each(list, func(i int, obj *Object, err error) error {
			if err == nil && obj.Type != next[i].kind {
				err = fmt.Errorf("object %s is a %s", obj.Hash, obj.Type)
			}
			if err != nil {
				next[i].take(nil, err)
			} else {
				next[i].take(obj.Content, nil)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Tree returns the entries of a tree that was read, by name.
func (r *Reads) Tree(content []byte, err error) (map[string]object.Entry, error) {
	if err != nil {
		return nil, err
	}
	return object.TreeMap(r.format, content)
}

// Format returns the format of the objects that are read.
func (r *Reads) Format() object.Format { return r.format }
