package ledger

import (
	"cmp"
	"container/heap"
	"iter"
	"maps"
	"slices"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/record"
)

// Ends calls f with the time of each ledger's last event, in order of ids. It
// reads only the tips, and adds unreadable missions to unread.
func Ends(objects *git.Objects, tips map[record.ID]object.Hash, unread *ReadErrors, f func(id record.ID, end time.Time)) error {
	ids := slices.Sorted(maps.Keys(tips))
	wanted := make([]git.Wanted, len(ids))
	for i, id := range ids {
		wanted[i] = git.Wanted{Hash: tips[id], Most: git.MaxCommit}
	}
	return objects.Each(wanted, func(i int, obj *git.Object, err error) error {
		var c *object.Commit
		if err == nil {
			c, err = object.ParseCommit(obj.Content)
		}
		if err != nil {
			unread.Add(Unreadable(ids[i], err))
			return nil
		}
		f(ids[i], c.Committer.When.Add(time.Second)) // git has no fractions of a second
		return nil
	})
}

// A Source yields things of a mission, the newest first.
type Source[T any] struct {
	At   time.Time                               // nothing it yields is newer
	Next func() (thing T, at time.Time, ok bool) // what comes next; not ok at the end

	// Held returns the approximate bytes kept, and Drop frees them, perhaps
	// before the last thing was used; then it is read again. Both may be nil.
	Held func() int
	Drop func()
}

// MaxHeld bounds the bytes that sources hold, without one that just read. There
// may be 10,000 untrusted missions, each with megabytes before its newest
// thing.
const MaxHeld = 32 << 20

// NewestFirst yields the things of all sources with times, the newest first; of
// equal ones the earlier source's first. A thing out of its source's order gets
// the previous one's time. Sources hold at most [MaxHeld].
func NewestFirst[T any](sources []Source[T]) iter.Seq2[time.Time, T] {
	return func(yield func(time.Time, T) bool) {
		h := make(heads[T], len(sources))
		for i, s := range sources {
			h[i] = &head[T]{Source: s, index: i}
		}
		heap.Init(&h)
		held := holding[T]{by: make(map[*head[T]]int)}
		for len(h) > 0 {
			s := h[0]
			if s.ready {
				s.ready = false
				if !yield(s.At, s.thing) {
					return
				}
				continue // no other source is newer than what it yields next may be
			}
			var at time.Time
			s.thing, at, s.ready = s.Next()
			held.look(s)
			if !s.ready {
				heap.Pop(&h)
				continue
			}
			if at.Before(s.At) {
				s.At = at
				heap.Fix(&h, 0)
			}
		}
	}
}

// A head is a source with its next thing.
type head[T any] struct {
	Source[T]
	index int  // of the source
	ready bool // thing is to be yielded
	thing T
}

// A holding counts what sources hold.
type holding[T any] struct {
	by  map[*head[T]]int // those that hold anything
	sum int
}

// look updates what a source holds. If that is too much in all, those with more
// than half of an equal share drop it: small ones need not read again, and the
// next time is many bytes away.
func (h *holding[T]) look(s *head[T]) {
	if s.Held == nil {
		return
	}
	h.set(s, s.Held())
	if h.sum <= MaxHeld {
		return
	}
	much := MaxHeld / 2 / len(h.by)
	for s, size := range h.by {
		if size > much {
			s.Drop()
			h.set(s, s.Held())
		}
	}
}

func (h *holding[T]) set(s *head[T], size int) {
	h.sum += size - h.by[s]
	if h.by[s] = size; size == 0 {
		delete(h.by, s)
	}
}

type heads[T any] []*head[T]

func (h heads[T]) Len() int      { return len(h) }
func (h heads[T]) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *heads[T]) Push(x any)   { *h = append(*h, x.(*head[T])) }
func (h heads[T]) Less(i, j int) bool {
	return cmp.Or(h[j].At.Compare(h[i].At), cmp.Compare(h[i].index, h[j].index)) < 0
}

func (h *heads[T]) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
