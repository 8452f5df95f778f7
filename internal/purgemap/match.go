package purgemap

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/purgerewrite"
	"gitagent/internal/record"
	"gitagent/internal/sshsig"
)

// A Matching finds what a map replaces in a repository.
type Matching struct {
	Repo    *git.Repo
	Objects *git.Objects
	Map     *Map
	Counts  func(sshsig.Public) bool // the keys that are trusted
	Own     sshsig.Public            // the user's own key; zero for none
	// Landing is where a fetch has put missions/, notes/ and heads/.
	Landing string
	// There are the ledgers under refs of the remote, not in its archive alone.
	There []object.Hash
	// Brought says that the remote was searched for what takes the place of
	// others: what is not here is not there.
	Brought bool
	// Accepted are missions whose purge a person accepts, whoever signed it.
	Accepted []record.ID
	Unasked  Unasked
}

// A Matched is what a map replaces in a repository.
type Matched struct {
	Known   map[object.Hash]object.Hash // commits with proved successors, zero for none
	Gone    []record.ID                 // missions that were removed
	Files   map[object.Hash]object.Hash // files of ledgers with proved successors, zero for none
	Learned [][]byte                    // what was taken out
	Held    map[record.ID]HeldBecause   // missions here or just fetched that stay
	Looked  map[record.ID]bool          // missions that were looked at: true for those here, not just fetched
	Agreed  map[object.Hash]object.Hash // pairs that a person accepts
	Lacks   Lacks
	Unasked Unasked // with what is taken out now
}

// Lacks are what was purged here of what was fetched, which has it, as it was
// purged there in another way.
type Lacks struct {
	Turns []record.TurnID
	Paths map[object.Hash][]string // by states
}

// HeldBecause says why the map was not applied to a mission.
type HeldBecause struct {
	Unknown bool  // no trusted key has signed it
	Whole   bool  // no trusted key signed that it was removed, and no more is known
	Refused error // a pair did not prove itself
	Away    bool  // what takes its place is not here
	WentOn  bool  // it was removed elsewhere, and has gone on
	// Beyond is what trusted keys ask for, if that needs a person's consent.
	Beyond *Asked
}

// Waits reports whether a person has to decide: the mission is sent nowhere
// until then.
func (h HeldBecause) Waits() bool { return h.Beyond != nil || h.WentOn }

// Find matches the map. Without news, archived missions are only looked at by
// their tips, as the known map was applied before.
func (m *Matching) Find(ctx context.Context, news bool) (*Matched, error) {
	archived, err := m.archived(ctx, news)
	if err != nil {
		return nil, err
	}
	list, there, err := m.lines(ctx, archived)
	if err != nil {
		return nil, err
	}
	p := newPairing(m.Map, m.Counts, m.Accepted, func(h object.Hash) bool { return m.Objects.Has(h) == nil }, list, there)
	p.objects, p.repo, p.user, p.brought = m.Objects, m.Repo, m.Map.user(m.Own), m.Brought
	p.unasked.Texts, p.unasked.Prose = m.Unasked.Texts, m.Unasked.Prose
	maps.Copy(p.unasked.Cut, m.Unasked.Cut)
	known, gone, learned, err := p.known(ctx)
	if err != nil {
		return nil, err
	}
	found := &Matched{Unasked: p.unasked, Known: known, Gone: gone, Files: p.files, Learned: learned, Held: p.held, Lacks: p.lacks, Looked: make(map[record.ID]bool), Agreed: make(map[object.Hash]object.Hash)}
	for _, l := range list {
		found.Looked[l.id] = found.Looked[l.id] || !l.landed
		if slices.Contains(m.Accepted, l.id) && p.removed[l.tip] {
			found.Agreed[l.tip] = object.Hash{}
		}
		for h, to := range p.pairs[l] {
			if p.accepts(l, h) {
				found.Agreed[h] = to
			}
		}
	}
	return found, nil
}

// A pairing finds which pairs of a map are applied to some ledgers.
type pairing struct {
	objects  *git.Objects
	repo     *git.Repo
	user     user
	exists   func(object.Hash) bool // the commit is here
	brought  bool                   // see [Matching]
	accepted []record.ID            // missions for which a person accepts untrusted keys
	list     []*line
	held     map[record.ID]HeldBecause // what can't be applied

	classes, all map[masked]*class       // by the keys that count, and by all
	under, there map[object.Hash]bool    // commits of ledgers under refs of the remote, and of fetched ones
	here         map[object.Hash]bool    // commits of ledgers that are here
	landed       map[object.Hash][]*line // by an event: the fetched ledgers that have it
	winners      map[*class]object.Hash
	agreed       map[object.Hash]bool // events whose replacement a person accepts: forks share them

	pairs   map[*line]map[object.Hash]object.Hash
	files   map[object.Hash]object.Hash
	removed map[object.Hash]bool  // newest events of missions that were removed
	refused map[object.Hash]error // of commits that were looked at; nil if the pair has proved itself
	lacks   Lacks
	unasked Unasked // before, and now
}

// newPairing returns a pairing by the keys that count.
func newPairing(m *Map, counts func(sshsig.Public) bool, accepted []record.ID, exists func(object.Hash) bool, list, there []*line) *pairing {
	p := &pairing{
		exists: exists, accepted: accepted, list: list, held: make(map[record.ID]HeldBecause),
		classes: m.classes(counts), all: m.classes(func(sshsig.Public) bool { return true }),
		under: make(map[object.Hash]bool), there: make(map[object.Hash]bool), here: make(map[object.Hash]bool),
		landed: make(map[object.Hash][]*line), winners: make(map[*class]object.Hash), agreed: make(map[object.Hash]bool),
		pairs: make(map[*line]map[object.Hash]object.Hash), files: make(map[object.Hash]object.Hash), removed: make(map[object.Hash]bool), refused: make(map[object.Hash]error), lacks: Lacks{Paths: make(map[object.Hash][]string)}, unasked: Unasked{Cut: make(map[record.ID]int64)},
	}
	for _, l := range there {
		for _, h := range slices.Concat(l.events, l.kept) {
			p.under[h] = true
		}
	}
	for _, l := range list {
		in := p.here
		if l.landed {
			in = p.there
		}
		for _, h := range slices.Concat(l.events, l.kept) {
			in[h] = true
		}
		accepted := slices.Contains(accepted, l.id)
		for _, h := range l.events {
			if l.landed {
				p.landed[h] = append(p.landed[h], l)
			}
			if accepted && p.all[mask(h)] != nil {
				p.agreed[h] = true
			}
		}
	}
	return p
}

// known returns the proved pairs, the removed missions, and what was taken out.
func (p *pairing) known(ctx context.Context) (known map[object.Hash]object.Hash, gone []record.ID, learned [][]byte, err error) {
	gone = p.choose()
	p.unmix()
	if learned, err = p.prove(ctx); err != nil {
		return nil, nil, nil, err
	}
	p.together()
	known = p.union()
	for h := range p.removed {
		if slices.ContainsFunc(p.list, func(l *line) bool {
			return l.landed && l.tip == h && (p.held[l.id].Beyond == nil || p.held[l.id].WentOn)
		}) {
			known[h] = object.Hash{}
		}
	}
	return known, gone, learned, nil
}

// winner returns a commit's successor, and whether any class lists it.
func (p *pairing) winner(x object.Hash, in map[masked]*class) (to object.Hash, listed bool) {
	c := in[mask(x)]
	if c == nil {
		return x, false
	}
	to, ok := p.winners[c]
	if !ok {
		to = c.winner(p.brought, p.exists, p.under, p.there, p.here)
		p.winners[c] = to
	}
	return to, true
}

func (p *pairing) agrees(l *line) bool {
	return slices.ContainsFunc(l.events, func(h object.Hash) bool { return p.agreed[h] })
}

func (p *pairing) hold(l *line, why HeldBecause) { p.held[l.id] = why }

// choose finds the pairs of each ledger, and returns the removed missions.
func (p *pairing) choose() (gone []record.ID) {
	for _, l := range p.list {
		mine, why, held := p.of(l)
		switch {
		case held:
			p.hold(l, why)
		case p.removed[l.tip] && !l.besides && !p.mayGo(l):
			p.hold(l, HeldBecause{Beyond: p.removal(l)})
		case p.removed[l.tip] && !l.landed && !l.besides:
			gone = append(gone, l.id)
		case len(mine) > 0: // what untrusted keys say beyond that does no harm
			p.pairs[l] = mine
		case why.Unknown || why.Whole:
			p.hold(l, why)
		}
	}
	return gone
}

// of returns what the map says of a ledger, and whether that holds it.
func (p *pairing) of(l *line) (mine map[object.Hash]object.Hash, why HeldBecause, held bool) {
	mine = make(map[object.Hash]object.Hash)
	agrees := p.agrees(l)
	for n, h := range slices.Concat(l.events, l.kept) {
		to, listed := p.winner(h, p.classes)
		if !listed {
			if to, listed = p.winner(h, p.all); !listed || to == h {
				continue
			}
			listed = agrees && (!to.IsZero() || slices.Contains(p.accepted, l.id))
		}
		switch {
		case !listed && l.landed:
		case !listed && to.IsZero():
			why.Whole = why.Whole || n == 0 && !l.besides
		case !listed:
			why.Unknown = why.Unknown || p.apart(to, h)
		case to == h && n == 0 && !l.landed && p.wasRemoved(h):
			if p.removed[h] = true; !l.besides {
				return mine, why, false
			}
		case to == h:
		case to.IsZero() && n == 0:
			if p.removed[h] = true; !l.besides { // what its other commits became does not matter
				return mine, why, false
			}
		case to.IsZero():
			if n >= len(l.events) || p.removed[l.tip] { // it may have gone on, and been removed again
				continue
			}
			if slices.Contains(p.accepted, l.id) {
				p.removed[l.tip] = true
				continue
			}
			why.WentOn, held = true, true
			why.Beyond = &Asked{By: p.by(h), Missions: []record.ID{l.id}, Gone: true}
		case !p.exists(to):
			why.Away, held = true, true
		default:
			mine[h] = to
		}
	}
	return mine, why, held
}

func (p *pairing) union() map[object.Hash]object.Hash {
	all := make(map[object.Hash]object.Hash)
	for _, mine := range p.pairs {
		maps.Copy(all, mine)
	}
	return all
}

// unmix leaves out the events in which two purges would be mixed.
func (p *pairing) unmix() {
	known := p.union()
	for l, mine := range p.pairs {
		in := p.classes
		if p.agrees(l) {
			in = p.all
		}
		for _, h := range spliced(p.objects, l.events, known, in) {
			delete(mine, h)
		}
		if len(mine) == 0 {
			delete(p.pairs, l)
		}
	}
}

// prove proves the pairs, holds what needs a person's consent, and returns what
// the others take out.
func (p *pairing) prove(ctx context.Context) (learned [][]byte, err error) {
	by, groups := purgerewrite.NewProver(p.objects, p.union()), p.groups()
	for _, g := range groups {
		if err := p.proveGroup(ctx, g, by.Apart()); err != nil {
			return nil, err
		}
		if g.bad {
			p.both(g)
		}
	}
	return p.judge(ctx, groups), nil
}

func (p *pairing) refuse(h, to object.Hash, bad error) {
	if p.refused[h] = nil; bad != nil {
		p.refused[h] = fmt.Errorf("%s in the place of %s: %v", to, h, bad)
	}
}

// together holds refused missions, and those that share anything with them.
func (p *pairing) together() {
	for again := true; again; {
		again = false
		for _, l := range p.list {
			var bad error
			for h := range p.pairs[l] {
				if bad = p.refused[h]; bad != nil {
					break
				}
			}
			if bad == nil {
				continue
			}
			p.hold(l, HeldBecause{Refused: bad})
			for h := range p.pairs[l] {
				p.refused[h] = bad
			}
			delete(p.pairs, l)
			again = true
		}
	}
}

// both finds what was purged here and not at the remote of what both have purged,
// each in a way of its own: without that as well, what is there may be what
// replaces what is here.
func (p *pairing) both(g *group) {
	for _, l := range g.lines {
		ours := func(h object.Hash) (to object.Hash, ok bool) {
			to, ok = p.pairs[l][h]
			return to, ok && p.here[h] && p.there[to]
		}
		for _, h := range l.kept {
			if to, ok := ours(h); ok {
				paths, err := purgerewrite.LacksPaths(p.objects, h, to)
				if err == nil && len(paths) > 0 { // else it stays refused
					p.lacks.Paths[to] = paths
				}
			}
		}
		for _, h := range l.events { // the newest has all turns
			if to, ok := ours(h); ok {
				turns, err := purgerewrite.LacksTurns(p.objects, h, to)
				if err == nil {
					p.lacks.Turns = append(p.lacks.Turns, turns...)
				}
				break
			}
		}
	}
}

// apart reports whether a fetched ledger has one commit and not the other.
func (p *pairing) apart(has, lacks object.Hash) bool {
	return slices.ContainsFunc(p.landed[has], func(l *line) bool { return !slices.Contains(p.landed[lacks], l) })
}

// winner returns the end of a class: the first in one of the sets, tried in
// order, else one that exists, else any. With what the remote has under refs,
// what was fetched and what is here, the remote's purge wins over another one.
// Once all is brought, a removal wins over what is nowhere: who made that may
// have taken another one's purge instead.
func (c *class) winner(brought bool, exists func(object.Hash) bool, sets ...map[object.Hash]bool) object.Hash {
	var order []func(object.Hash) bool
	for _, set := range sets {
		if !c.circular {
			order = append(order, func(h object.Hash) bool { return set[h] })
		}
	}
	for _, in := range append(order, exists, func(object.Hash) bool { return !brought || !c.is[object.Hash{}] }) {
		for _, h := range c.ends {
			if !h.IsZero() && in(h) {
				return h
			}
		}
	}
	return object.Hash{}
}
