package handoffstore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/search"
	"gitagent/internal/workspace"
)

// A Hit is a handoff in which all that a search looks for was found.
type Hit struct {
	Mission record.ID // in which it was made, as its record says
	Number  int
	At      time.Time
	In      record.ID   // the mission that it is named by
	Tip     object.Hash // of its ledger
	*search.Matches

	ours bool // the user may rely on it
	tree object.Hash
}

// Search looks into the documents, summaries and questions of missions, newest
// first, and calls f for each handoff with its time and a hit or nil. What was
// inherited or taken over is looked at once, but untrusted text never stands
// for trusted. The error is f's, or reports what can't be read. Memory is
// bounded by [ledger.MaxHeld].
func Search(ctx context.Context, of *workspace.Workspace, tips map[record.ID]object.Hash, query *search.Query, since time.Time, f func(time.Time, *Hit) error) error {
	objects := of.Repo.Objects(ctx)
	defer objects.Close()
	w := &walk{
		objects: objects, relied: of.TrustCache(ctx, objects), tips: tips, query: query, since: since,
		taken: make(map[object.Hash]bool), told: make(map[[sha256.Size]byte]bool),
	}
	var sources []ledger.Source[*cursor]
	err := ledger.Ends(objects, tips, &w.unread, func(id record.ID, end time.Time) {
		sources = append(sources, w.source(id, end))
	})
	if err != nil {
		return err
	}
	for at, c := range ledger.NewestFirst(sources) {
		err := ctx.Err()
		if err == nil {
			err = f(at, w.named(w.take(c)))
		}
		if err != nil {
			return err
		}
	}
	return cmp.Or(ctx.Err(), w.unread.Err())
}

type walk struct {
	objects *git.Objects
	relied  *workspace.TrustCache
	tips    map[record.ID]object.Hash
	query   *search.Query
	since   time.Time
	taken   map[object.Hash]bool       // trees of handoffs; whether the user may rely on one
	told    map[[sha256.Size]byte]bool // what is in them; the same
	unread  ledger.ReadErrors
}

// A cursor is where a walk is in a mission.
type cursor struct {
	id    record.ID
	begun bool // it has given the mission itself
	below int  // the handoffs below this number are to come
	found bool // something was found in the next one

	// What can be read again; nil if not read yet, or dropped.
	ledger  *ledger.Ledger
	numbers []int // of the handoffs to come, the last one first
	hit     *Hit  // the next
}

// source yields a mission at each handoff that is to be taken, the last one
// first. It begins with the mission itself, which is opened only after that.
func (w *walk) source(id record.ID, end time.Time) ledger.Source[*cursor] {
	c := &cursor{id: id, below: record.MaxNumber + 1}
	return ledger.Source[*cursor]{
		At: end, Held: c.size, Drop: c.drop,
		Next: func() (_ *cursor, at time.Time, ok bool) {
			if !c.begun {
				return c, end, true
			}
			for w.open(c) && len(c.numbers) > 0 {
				n := c.numbers[0]
				hit, err := w.look(c.ledger, n, false)
				switch {
				case errors.Is(err, git.ErrNotFound):
				case err != nil:
					w.unread.Add(err)
				case hit != nil && hit.At.Before(w.since):
					c.below, c.numbers = 0, nil
				case hit != nil:
					c.hit, c.found = hit, hit.Matches != nil
					return c, hit.At, true
				}
				c.pass()
			}
			c.below = 0
			c.drop()
			return nil, at, false
		},
	}
}

// open opens a mission if needed, and reports whether it can be read.
func (w *walk) open(c *cursor) bool {
	if c.ledger != nil || c.below == 0 {
		return c.ledger != nil
	}
	l, err := ledger.At(w.objects, c.id, w.tips[c.id])
	if err == nil {
		c.numbers, err = l.Handoffs()
	}
	if err != nil {
		w.unread.Add(err)
		return false
	}
	c.ledger = l
	c.numbers = slices.DeleteFunc(c.numbers, func(n int) bool { return n >= c.below })
	return true
}

// take returns the handoff that a mission has come to, without matches if not
// all was found, or nil for the mission itself.
func (w *walk) take(c *cursor) *Hit {
	if !c.begun {
		c.begun = true
		return nil
	}
	hit := c.hit
	if hit == nil && c.found && w.open(c) { // it was dropped
		var err error
		hit, err = w.look(c.ledger, c.numbers[0], true)
		w.unread.Add(err)
	}
	c.pass()
	return hit
}

// size returns roughly how many bytes are held of the mission.
func (c *cursor) size() int {
	size := 8 * len(c.numbers)
	if c.ledger != nil {
		size += c.ledger.Held()
	}
	if c.hit != nil && c.hit.Matches != nil {
		for _, l := range c.hit.Lines {
			size += 100 + len(l.Text) + 16*len(l.Spans)
		}
	}
	return size
}

// drop forgets what can be read again.
func (c *cursor) drop() { c.ledger, c.numbers, c.hit = nil, nil, nil }

// pass goes to the next handoff.
func (c *cursor) pass() {
	if len(c.numbers) > 0 {
		c.below, c.numbers = c.numbers[0], c.numbers[1:]
	}
	c.hit, c.found = nil, false
}

// look looks into a handoff, or returns nil if it did before, unless again.
func (w *walk) look(l *ledger.Ledger, number int, again bool) (*Hit, error) {
	dir, err := l.Entry(ledger.HandoffPath(number, ""))
	if err != nil {
		return nil, err
	}
	ours := w.relied.Trusted(l, ledger.HandoffPath(number, ""))
	if !again && !first(w.taken, dir.Hash, ours) {
		return nil, nil
	}
	h, err := readAt(l, number)
	if err != nil {
		return nil, err
	}
	document, err := l.Read(ledger.HandoffPath(number, docFile))
	if err != nil && !errors.Is(err, git.ErrNotFound) {
		return nil, err
	}
	hit := &Hit{Mission: h.Mission, Number: h.Number, At: h.At, In: l.ID, Tip: l.Tip, ours: ours, tree: dir.Hash}
	if !ours {
		w.home(hit)
	}
	if hit.ours && !ours { // an untrusted fork has it from us
		ours, w.taken[dir.Hash] = true, true
	}
	if h.Written.IsZero() { // the rest quotes a turn
		return hit, nil
	}
	text := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", document, h.Summary, h.Questions))
	if !again && !first(w.told, text, ours) {
		return hit, nil
	}
	m := w.query.Matches()
	m.Add("document", string(document))
	m.Add("summary", h.Summary)
	m.Add("question", strings.Join(h.Questions, "\n"))
	if m.Complete() {
		hit.Matches = m
	}
	return hit, nil
}

// first reports whether something is new, and notes it. Trusted text counts as
// new after the same untrusted text.
func first[K comparable](seen map[K]bool, key K, ours bool) bool {
	if before, known := seen[key]; known && (before || !ours) {
		return false
	}
	seen[key] = ours
	return true
}

// named returns nil for a hit in which not all was found.
func (w *walk) named(hit *Hit) *Hit {
	if hit == nil || hit.Matches == nil {
		return nil
	}
	w.home(hit)
	return hit
}

// home names a hit by the mission in which it was made, if that has it too and,
// should the hit be trusted, is trusted there.
func (w *walk) home(hit *Hit) {
	tip, ok := w.tips[hit.Mission]
	if !ok || hit.Mission == hit.In {
		return
	}
	path := ledger.HandoffPath(hit.Number, "")
	l, err := ledger.At(w.objects, hit.Mission, tip)
	if err != nil {
		return
	}
	if its, err := l.Entry(path); err != nil || its.Hash != hit.tree {
		return
	}
	if ours := w.relied.Trusted(l, path); ours || !hit.ours {
		hit.In, hit.Tip, hit.ours = hit.Mission, tip, ours
	}
}
