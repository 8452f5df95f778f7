package turns

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/workspace"
)

// EachOfAll calls f with the turns of all missions, newest first, while it
// reads them. Within a mission the order is that of the numbers. A turn that
// forks have inherited comes once: as its own mission's or, if that was
// removed, as one of the forks'; [Turn.In] tells which. An untrusted copy never
// replaces a turn that the user may rely on: both are passed then. An error of
// f ends the walk and is returned. As with [Each], turns that can't be read are
// left out, and the error says so.
//
// A mission is opened when its newest turn may be the next, so the first turns
// of 100,000 missions cost one look at the tip of each. The memory of open
// missions is limited by [ledger.MaxHeld].
func EachOfAll(ctx context.Context, w *workspace.Workspace, f func(*Turn) error) error {
	tips, err := ledger.List(ctx, w.Repo)
	if err != nil {
		return err
	}
	return EachOfMissions(ctx, w, tips, f)
}

// EachOfMissions is [EachOfAll] for some missions, given with ledgers' tips.
func EachOfMissions(ctx context.Context, w *workspace.Workspace, tips map[record.ID]object.Hash, f func(*Turn) error) error {
	objects := w.Repo.Objects(ctx)
	defer objects.Close()
	m := &turnStream{ctx: ctx, objects: objects, tips: tips, relied: w.TrustCache(ctx, objects), orphans: make(map[identity]bool)}
	var sources []ledger.Source[*cursor]
	err := ledger.Ends(objects, tips, &m.unread, func(id record.ID, end time.Time) {
		sources = append(sources, m.source(id, end))
	})
	if err != nil {
		return err
	}
	for _, c := range ledger.NewestFirst(sources) {
		var t *Turn
		if t, m.err = m.current(c); t != nil && m.err == nil {
			m.err = f(t)
		}
		if m.err != nil {
			return m.err
		}
	}
	return cmp.Or(m.err, m.unread.Err())
}

type turnStream struct {
	ctx     context.Context
	objects *git.Objects
	tips    map[record.ID]object.Hash
	relied  *workspace.TrustCache
	orphans map[identity]bool // passed as a fork's turn; whether the user may rely on that one
	unread  ledger.ReadErrors
	err     error // that ends it
}

// An identity hashes what stays of a turn that is recorded again. It tells
// apart turns of one number in a mission that went on in two clones.
type identity [sha256.Size]byte

func identify(t *Turn) identity {
	return sha256.Sum256(fmt.Appendf(nil, "%s %d %q %q", t.ID(), t.Started.UnixNano(), t.Session, t.PromptID))
}

// source returns a mission as a source that stops at each turn to be passed.
func (m *turnStream) source(id record.ID, end time.Time) ledger.Source[*cursor] {
	c := &cursor{id: id, below: record.MaxNumber + 1}
	return ledger.Source[*cursor]{
		At: end, Held: c.size, Drop: c.drop,
		Next: func() (_ *cursor, at time.Time, ok bool) {
			if m.err = cmp.Or(m.err, m.ctx.Err()); m.err != nil {
				return nil, at, false
			}
			var t *Turn
			if t, m.err = m.advance(c); t == nil {
				c.drop()
				return nil, at, false
			}
			return c, t.At, true
		},
	}
}

func (m *turnStream) open(c *cursor) error {
	l, err := ledger.At(m.objects, c.id, m.tips[c.id])
	if err != nil {
		return ledger.Unreadable(c.id, err)
	}
	c.ledger, c.atOnce, c.prepared = l, firstAtOnce, prepare(m.objects, l)
	if from := l.Mission.ForkedFrom; from != nil {
		c.source, c.until = m.other(l, from.Mission), from.Turn
	}
	if c.source != nil {
		c.same = m.relied.Level(l.ID, l.Tip).Commit.IsZero() || m.relied.Level(c.source.ID, c.source.Tip).Whole
	}
	return nil
}

// other opens another mission's ledger. It returns nil if that is missing or
// can't be read, which is reported at its own turn.
func (m *turnStream) other(l *ledger.Ledger, id record.ID) *ledger.Ledger {
	tip, ok := m.tips[id]
	if !ok || id == l.ID {
		return nil
	}
	o, err := ledger.At(m.objects, id, tip)
	if err != nil {
		return nil
	}
	return o
}

// advance returns the mission's next turn to be passed as its own, or nil.
func (m *turnStream) advance(c *cursor) (*Turn, error) {
	for {
		if err := m.fill(c); err != nil || len(c.some) == 0 {
			return nil, err
		}
		s := c.some[0]
		if s.err == nil && (c.chosen || !m.inherited(c, s.turn)) {
			c.chosen = true
			return s.turn, nil
		}
		m.unread.Add(s.err)
		c.pass()
	}
}

func (m *turnStream) current(c *cursor) (*Turn, error) {
	t, err := m.advance(c) // it may have been dropped
	if t != nil {
		c.pass()
	}
	return t, err
}

// inherited reports whether a turn is passed by its own mission, by the source
// of this one, or by a fork that had it before.
func (m *turnStream) inherited(c *cursor, t *Turn) bool {
	if t.Mission == c.id {
		return false
	}
	if c.origin == nil || c.origin.ID != t.Mission {
		c.origin = m.other(c.ledger, t.Mission)
	}
	if m.has(c.source, c, t) || m.has(c.origin, c, t) {
		return true
	}
	who, ours := identify(t), m.reliedOn(c.ledger, t)
	if before, known := m.orphans[who]; known && (before || !ours) {
		return true
	}
	m.orphans[who] = ours
	return false
}

// has reports whether a ledger has a turn of another one, perhaps recorded
// again, to stand for it. An untrusted one can't stand for a trusted one.
func (m *turnStream) has(l *ledger.Ledger, c *cursor, t *Turn) bool {
	if l == nil {
		return false
	}
	other, err := ReadIn(l, t.Turn)
	return err == nil && identify(other) == identify(t) && (m.reliedOn(l, other) || !m.reliedOn(c.ledger, t))
}

// reliedOn reports whether a ledger's turn and its segment are trusted.
func (m *turnStream) reliedOn(l *ledger.Ledger, t *Turn) bool {
	return m.relied.Trusted(l, ledger.TurnPath("turns", t.Turn, ".json"), ledger.TurnPath("transcript", t.Turn, ".jsonl"))
}

// firstAtOnce is how many records are read first; of most missions only the
// newest turns are wanted. The number doubles with each read.
const firstAtOnce = 4

type cursor struct {
	id     record.ID
	below  int  // the turns below this number are to come
	chosen bool // the next one is to be passed as this mission's
	ended  bool // all that is to come was read

	// The rest can be read again; nil if not read yet, or dropped.
	ledger   *ledger.Ledger
	prepared *prepared
	source   *ledger.Ledger // that it was forked from; nil if there is none here
	until    int            // the turn that it was forked at, or before which; 0 if unknown
	same     bool           // turns that the source has too may be left to it
	origin   *ledger.Ledger // the mission of the last inherited turn; nil if it is not here
	atOnce   int            // how many records to read next
	some     []stored       // read, and next in order
	held     int            // bytes of them
}

// size returns about how many bytes are held of the mission.
func (c *cursor) size() int {
	size := c.held + c.prepared.held()
	for _, l := range []*ledger.Ledger{c.ledger, c.source, c.origin} {
		if l != nil {
			size += l.Held()
		}
	}
	return size
}

func (c *cursor) drop() {
	if c.prepared != nil {
		c.prepared.keep()
	}
	*c = cursor{id: c.id, below: c.below, chosen: c.chosen, ended: c.ended && len(c.some) == 0}
}

func (c *cursor) pass() {
	c.held -= c.some[0].size()
	c.below, c.chosen = c.some[0].number, false
	c.some[0] = stored{}
	c.some = c.some[1:]
}

// fill reads the next turns. It ends where those of the mission's source begin.
func (m *turnStream) fill(c *cursor) error {
	if len(c.some) > 0 || c.ended {
		return nil
	}
	if c.ledger == nil {
		if err := m.open(c); err != nil {
			m.unread.Add(err)
			c.ended = true
			return nil
		}
	}
	var records []listed
	var broken *stored
	c.ended = true
	for r, err := range c.prepared.below(c.below) {
		if err != nil {
			broken, c.ended = &stored{number: r.Number, err: err}, r.Number == 0
			break
		}
		if c.shared(r.Numbered) {
			break
		}
		if records = append(records, r); len(records) == c.atOnce {
			c.ended = false
			break
		}
	}
	whole, err := m.read(c, records)
	switch {
	case err != nil:
		return err
	case !whole: // they are large
		c.atOnce, c.ended = len(c.some), false
		return nil
	case broken != nil:
		c.some = append(c.some, *broken)
	}
	c.atOnce = min(2*c.atOnce, atOnce)
	return nil
}

func (m *turnStream) read(c *cursor, records []listed) (whole bool, err error) {
	size := 0
	err = c.prepared.fetch(records, func(i int, s stored) error {
		c.some = append(c.some, s)
		if size += len(s.text); size >= bytesAtOnce && i+1 < len(records) {
			return errHalted
		}
		return nil
	})
	parseAll(c.some, c.id, c.ledger.Tip)
	for i := range c.some {
		c.prepared.add(&c.some[i])
		c.held += c.some[i].size()
	}
	if errors.Is(err, errHalted) {
		return false, nil
	}
	return true, err
}

// shared reports whether the source has the very record, and so all before it.
func (c *cursor) shared(r ledger.Numbered) bool {
	if c.source == nil || !c.same || c.until > 0 && r.Number > c.until {
		return false
	}
	e, err := c.source.Entry(ledger.TurnPath("turns", r.Number, ".json"))
	return err == nil && e.Hash == r.Hash
}
