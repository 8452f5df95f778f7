package blame

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/compact"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
)

// A past is what was read of ledgers' commits, which never change: their events,
// each with the one before it, and the commits that they keep.
type past struct {
	events map[object.Hash]*ledger.CommitEvent
	kept   map[object.Hash]*keptCommit
	anew   int // commits that the file lacks
}

// A keptCommit is a commit that an event keeps.
type keptCommit struct {
	id      record.TurnID // that it says it was made for
	state   bool          // it says so
	date    int64         // of the committer, in seconds
	parents []object.Hash
}

func newPast() *past {
	return &past{events: make(map[object.Hash]*ledger.CommitEvent), kept: make(map[object.Hash]*keptCommit)}
}

// pack writes the events, and of what they keep what was read.
func (p *past) pack(w *compact.Writer) {
	w.Int(int64(len(p.events)))
	for _, e := range p.events {
		w.Hash(e.Hash)
		w.Hash(e.Before)
		w.Int(e.At.Unix())
		w.Int(int64(len(e.Keeps)))
		for _, commit := range e.Keeps {
			w.Hash(commit)
			k := p.kept[commit]
			if w.Is(k != nil); k == nil {
				continue
			}
			w.Text(string(k.id.Mission))
			w.Int(int64(k.id.Turn))
			w.Is(k.state)
			w.Int(k.date)
			writeHashes(w, k.parents)
		}
	}
}

// unpackPast reads what pack has written.
func unpackPast(r *compact.Reader) *past {
	p := newPast()
	for range r.Count() {
		e := &ledger.CommitEvent{Hash: r.Hash(), Before: r.Hash(), At: time.Unix(r.Int(), 0)}
		p.events[e.Hash] = e
		e.Keeps = make([]object.Hash, r.Count())
		for i := range e.Keeps {
			e.Keeps[i] = r.Hash()
			if r.Is() {
				k := &keptCommit{id: record.TurnID{Mission: record.ID(r.Text()), Turn: int(r.Int())}, state: r.Is(), date: r.Int()}
				k.parents = readHashes(r)
				p.kept[e.Keeps[i]] = k
			}
		}
	}
	return p
}

// events returns the commits of ledgers, each once.
func (h *History) events(ctx context.Context, list []*ledger.Ledger) (map[object.Hash]*ledger.CommitEvent, error) {
	tips := make([]object.Hash, len(list))
	for i, l := range list {
		tips[i] = l.Tip
	}
	if !h.past.reach(h.objects, tips) {
		for e, err := range ledger.Links(ctx, h.w.Repo.With(git.Wary), tips...) {
			if err != nil {
				return nil, err
			}
			h.past.add(e)
		}
	}
	events := make(map[object.Hash]*ledger.CommitEvent, len(h.past.events))
	for _, at := range tips {
		for e := h.past.events[at]; e != nil && events[at] == nil; e = h.past.events[at] {
			events[at], at = e, e.Before
		}
	}
	h.past.events = events // less what no ledger leads to any more
	return maps.Clone(events), nil
}

func (p *past) add(e *ledger.CommitEvent) {
	if p.events[e.Hash] == nil {
		p.events[e.Hash] = e
		p.anew++
	}
}

// reach reports whether the events of some ledgers are known, of which it reads
// a few.
func (p *past) reach(objects *git.Objects, tips []object.Hash) bool {
	if len(p.events) == 0 {
		return false
	}
	var read []*ledger.CommitEvent
	for _, at := range tips {
		for !at.IsZero() && p.events[at] == nil {
			c, err := objects.Commit(at)
			if err != nil || len(read) == maxLearned {
				return false
			}
			e := &ledger.CommitEvent{Hash: at, At: c.Committer.When}
			if len(c.Parents) > 0 {
				e.Before, e.Keeps = c.Parents[0], c.Parents[1:]
			}
			read = append(read, e)
			at = e.Before
		}
	}
	for _, e := range read {
		p.add(e)
	}
	return true
}

// A keep is a commit kept by an event, and the event's time in seconds.
type keep struct {
	commit object.Hash
	at     int64
}

// A save is a kept state. A restore keeps two, before and after.
type save struct {
	keep
	alone bool
}

// maxMessage limits the commits read, in bytes: one for a state is small.
const maxMessage = 1 << 20

// A making is what a state's commit was made for, and its parents.
type making struct {
	record.TurnID
	on []object.Hash
}

type makings map[keep]making

// pair returns how many parents the second of two commits kept by an event has,
// if it was made on the first: one after a restore, revert or undo, two after
// an adoption; else 0.
func (m makings) pair(e *ledger.CommitEvent) int {
	if len(e.Keeps) != 2 {
		return 0
	}
	after, is := m[keep{e.Keeps[1], e.At.Unix()}]
	if !is || after.Turn != 0 || len(after.on) == 0 || after.on[0] != e.Keeps[0] {
		return 0
	}
	return len(after.on)
}

// made returns what the commits were made for that were made by the events that
// keep them. Of the others nothing is said: they are the user's, maybe with
// trailers that name turns, or an earlier event's.
func (h *History) made(events map[object.Hash]*ledger.CommitEvent) (makings, error) {
	times := make(map[object.Hash][]int64)
	for _, e := range events {
		for _, commit := range e.Keeps {
			times[commit] = append(times[commit], e.At.Unix())
		}
	}
	var wanted []git.Wanted
	for commit := range times {
		if h.past.kept[commit] == nil {
			wanted = append(wanted, git.Wanted{Hash: commit, Most: maxMessage})
		}
	}
	err := h.objects.Each(wanted, func(i int, obj *git.Object, err error) error {
		if err != nil || obj.Type != plumbing.CommitObject {
			return nil // it is not here, or no state
		}
		c, err := object.ParseCommit(obj.Content)
		if err != nil {
			return nil
		}
		k := &keptCommit{date: c.Committer.When.Unix(), parents: c.Parents}
		if id, ok := ledger.ReadCodeMessage(c.Message); ok && (id.Turn > 0 || len(ledger.ReadTrailers(c.Message)) == 0) {
			k.id, k.state = id, true
		}
		h.past.kept[obj.Hash] = k
		h.past.anew++
		return nil
	})
	made := make(makings)
	for commit, at := range times {
		if k := h.past.kept[commit]; k != nil && k.state && slices.Contains(at, k.date) {
			made[keep{commit, k.date}] = making{k.id, k.parents}
		}
	}
	return made, err
}
