package turns

import (
	"cmp"
	"context"
	"iter"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
)

// EachOfAll hands over the turns of all missions, the newest first, while it reads them. A turn that
// forks have inherited is handed over once: as its own mission's, or if that has been removed, as
// that of one of the forks; [Turn.In] tells which. Within a mission the order is that of the numbers.
// An error of f ends the walk and is returned. As with [Each], what can't be read is left out, and
// the error says so.
//
// A mission is opened when its newest turn may be the next, so the first turns of 100,000 missions
// cost one look at the tip of each.
func EachOfAll(ctx context.Context, repo *git.Repo, f func(*Turn) error) error {
	tips, err := ledger.List(ctx, repo)
	if err != nil {
		return err
	}
	objects := repo.Objects(ctx)
	defer objects.Close()
	m := &merging{ctx: ctx, objects: objects, tips: tips, open: make(map[*cursor]bool), orphans: make(map[identity]bool)}
	defer m.stop()
	var sources []ledger.Source[*Turn]
	err = ledger.Ends(objects, tips, &m.unread, func(id ledger.ID, end time.Time) {
		sources = append(sources, m.source(id, end))
	})
	if err != nil {
		return err
	}
	for _, t := range ledger.NewestFirst(sources) {
		if m.err == nil {
			m.err = f(t)
		}
		if m.err != nil {
			return m.err
		}
	}
	return cmp.Or(m.err, m.unread.Err())
}

// A merging is one pass over all missions.
type merging struct {
	ctx     context.Context
	objects *git.Objects
	tips    map[ledger.ID]plumbing.Hash
	open    map[*cursor]bool  // missions that have not been read to their ends
	orphans map[identity]bool // handed over, but not as their own mission's
	unread  ledger.Unread
	err     error // that ends it
}

// identity is what stays of a turn when it is recorded again, and differs between the turns of one
// number in the sides of a mission that went on in two clones.
type identity struct {
	id                ledger.TurnID
	started           int64
	session, promptID string
}

func identify(t *Turn) identity {
	return identity{t.ID(), t.Started.UnixNano(), t.Session, t.PromptID}
}

// source gives the turns of a mission, which it opens at the first question.
func (m *merging) source(id ledger.ID, end time.Time) ledger.Source[*Turn] {
	var c *cursor
	return ledger.Source[*Turn]{At: end, Next: func() (t *Turn, at time.Time, ok bool) {
		if m.err = cmp.Or(m.err, m.ctx.Err()); m.err != nil {
			return nil, at, false
		}
		if c == nil {
			l, err := ledger.At(m.objects, id, m.tips[id])
			if err != nil {
				m.unread.Add(ledger.Unreadable(id, err))
				return nil, at, false
			}
			c = m.start(l)
		}
		if t, m.err = m.advance(c); t == nil {
			return nil, at, false
		}
		return t, t.At, true
	}}
}

// start opens a mission.
func (m *merging) start(l *ledger.Ledger) *cursor {
	c := &cursor{ledger: l, atOnce: firstAtOnce}
	if from := l.Mission.ForkedFrom; from != nil {
		c.source, c.until = m.other(l, from.Mission), from.Turn
	}
	c.next, c.stop = iter.Pull2(l.Turns())
	m.open[c] = true
	return c
}

// other opens the ledger of another mission; nil if it is not here or can't be read, which is
// reported when it is its turn.
func (m *merging) other(l *ledger.Ledger, id ledger.ID) *ledger.Ledger {
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

// advance returns a mission's next turn that is not handed over as another mission's. Behind the last
// one it closes the mission, and returns nil.
func (m *merging) advance(c *cursor) (*Turn, error) {
	for {
		if len(c.some) == 0 {
			if err := m.read(c); err != nil {
				return nil, err
			}
		}
		if len(c.some) == 0 {
			c.stop()
			delete(m.open, c)
			return nil, nil
		}
		s := c.some[0]
		c.some = c.some[1:]
		if s.err != nil {
			m.unread.Add(s.err)
		} else if !m.elsewhere(c, s.turn) {
			return s.turn, nil
		}
	}
}

// elsewhere reports whether a turn is handed over as one of another mission: it was inherited, and
// its own mission or the one that this one was forked from has it, or a fork had it before.
func (m *merging) elsewhere(c *cursor, t *Turn) bool {
	if t.Mission == c.ledger.ID {
		return false
	}
	if c.origin == nil || c.origin.ID != t.Mission {
		c.origin = m.other(c.ledger, t.Mission)
	}
	if has(c.source, t) || has(c.origin, t) {
		return true
	}
	known := m.orphans[identify(t)]
	m.orphans[identify(t)] = true
	return known
}

// has reports whether a mission has a turn, perhaps recorded again.
func has(l *ledger.Ledger, t *Turn) bool {
	if l == nil {
		return false
	}
	other, err := readTurn(l, t.Turn)
	return err == nil && identify(other) == identify(t)
}

func (m *merging) stop() {
	for c := range m.open {
		c.stop()
	}
}

// firstAtOnce is how many records are read when a mission is opened, and twice as many each time
// after that: of most missions only the newest turns are wanted.
const firstAtOnce = 4

// A cursor reads the turns of a mission.
type cursor struct {
	ledger *ledger.Ledger
	source *ledger.Ledger // that it was forked from; nil if there is none here
	until  int            // the turn that it was forked at, or before which; 0 if that is not known
	origin *ledger.Ledger // the mission of the last inherited turn; nil if it is not here

	next   func() (ledger.Numbered, error, bool)
	stop   func()
	left   []ledger.Numbered // to be read next
	atOnce int
	some   []stored // read, and to come next
}

// read reads the next records of a mission. There is none behind what it has from its source.
func (m *merging) read(c *cursor) error {
	c.some = nil
	records := c.left
	for len(records) < c.atOnce {
		r, err, ok := c.next()
		if !ok || err == nil && c.shared(r) {
			c.stop()
			break
		}
		if err != nil {
			m.unread.Add(err)
			continue
		}
		records = append(records, r)
	}
	c.left, c.atOnce = nil, min(2*c.atOnce, atOnce)
	wanted := make([]git.Wanted, len(records))
	for i, r := range records {
		wanted[i] = git.Wanted{Hash: r.Hash, Most: ledger.MaxTurn}
	}
	size := 0
	err := m.objects.Each(wanted, func(i int, obj *git.Object, err error) error {
		if size >= bytesAtOnce {
			c.left = append(c.left, records[i])
			return nil
		}
		s := storedAs(c.ledger.ID, records[i].Number, obj, err)
		size += len(s.data)
		c.some = append(c.some, s)
		return nil
	})
	parseAll(c.some, c.ledger.ID, c.ledger.Tip)
	return err
}

// shared reports whether a record is the very one that the source has. Then all before it are the
// source's, too.
func (c *cursor) shared(r ledger.Numbered) bool {
	if c.source == nil || c.until > 0 && r.Number > c.until {
		return false
	}
	e, err := c.source.Entry(ledger.TurnPath("turns", r.Number, ".json"))
	return err == nil && e.Hash == r.Hash
}
