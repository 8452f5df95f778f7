package ledger

import (
	"cmp"
	"container/heap"
	"iter"
	"maps"
	"slices"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/record"
)

// Ends hands over when the last events of missions were, whose ledgers end at these tips, in order of the
// ids: no record in a ledger is newer. Missions that can't be read are added to unread. It looks at the
// tips alone.
func Ends(objects *git.Objects, tips map[record.ID]git.Hash, unread *ReadErrors, f func(id record.ID, end time.Time)) error {
	ids := slices.Sorted(maps.Keys(tips))
	wanted := make([]git.Wanted, len(ids))
	for i, id := range ids {
		wanted[i] = git.Wanted{Hash: tips[id], Most: git.MaxCommit}
	}
	return objects.Each(wanted, func(i int, obj *git.Object, err error) error {
		var c *git.Commit
		if err == nil {
			c, err = git.ParseCommit(obj.Content)
		}
		if err != nil {
			unread.Add(Unreadable(ids[i], err))
			return nil
		}
		f(ids[i], c.Committer.When.Add(time.Second)) // git knows no parts of a second
		return nil
	})
}

// A Source gives things of a mission, the newest first. It is asked only when it may have the newest.
type Source[T any] struct {
	At   time.Time                               // nothing that it gives is newer
	Next func() (thing T, at time.Time, ok bool) // what comes next; not ok at its end

	// A source that keeps what it has read says how many bytes that is, about, and gives it up when all
	// together have too much. It may be asked to between a Next and the thing's turn, so it reads that
	// again if it has to. Both are nil for one that keeps nothing.
	Held func() int
	Drop func()
}

// MaxHeld is how many bytes all sources may hold, and one more that has just read on: a stranger can
// have made 10,000 missions of which each may have the newest, and each with megabytes in its way.
const MaxHeld = 32 << 20

// NewestFirst yields what all sources have, the newest first, with its time; of two at the same time that of
// the first source. Where a source does not keep to its order, a thing takes the time of the one before
// it. It holds no more than [MaxHeld].
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
				continue // nobody else is newer than what it gives next may be
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

// A head is what a source gives next.
type head[T any] struct {
	Source[T]
	index int  // of the source
	ready bool // thing is to be given
	thing T
}

// holding is what sources hold.
type holding[T any] struct {
	by  map[*head[T]]int // those that hold anything
	sum int
}

// look looks at what a source holds after it was asked. If all hold too much, those that hold much give it
// up: more than half of what each might. Whoever holds little goes on without reading anything twice, and
// it takes many bytes until all have to be looked at again.
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

// heads is a heap, see [heap.Interface].
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
