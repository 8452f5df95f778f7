package blame

import (
	"maps"
	"slices"
	"time"

	"gitagent/internal/git/object"
	"gitagent/internal/record"
	"gitagent/turns"
)

// A Prompts is a mission and its turns that a question is about, by start.
type Prompts struct {
	Mission *record.Mission
	Turns   []*turns.Turn
}

// Prompts returns the missions that contributed to commits, and their forks
// that did not, each by first turn. It includes the turns that contributed,
// those between the first and last of them, and those that began between the
// two moments, if on a branch of a contributing turn. Being named by a commit
// is not enough.
func (h *History) Prompts(to *Contributions, since, until time.Time) (missions, forks []*Prompts, err error) {
	contributed := make(map[recorded]bool)
	branches := make(map[string]bool)
	of := make(map[record.ID]*span)
	until = until.Truncate(time.Second).Add(time.Second - 1) // a commit's date has no fraction
	for _, c := range to.Turns {
		if c.Files == 0 { // anyone can write a trailer: it must not reveal prompts
			continue
		}
		since, until = earlier(since, c.Turn.Before().At), later(until, c.Turn.At)
		contributed[recorded{c.Turn.ID(), c.Turn.At, c.Turn.Code}] = true
		branches[c.Turn.Branch] = true
		s := of[c.Turn.In()]
		if s == nil {
			s = &span{c.Turn.Turn, c.Turn.Turn}
			of[c.Turn.In()] = s
		}
		s.first, s.last = min(s.first, c.Turn.Turn), max(s.last, c.Turn.Turn)
	}
	found := make(map[record.ID]*Prompts)
	forked := make(map[record.ID]*Prompts)
	for _, t := range h.turns {
		s, from := of[t.in.ID], t.in.Mission.ForkedFrom
		within := !t.started.Before(since) && !t.started.After(until)
		fork := s == nil && within && from != nil && (of[from.Mission] != nil || forked[from.Mission] != nil)
		among := contributed[t.key()] || s != nil && s.first <= t.id.Turn && t.id.Turn <= s.last
		if !among && !fork && (s == nil || !within) {
			continue
		}
		record, err := t.record()
		if err != nil {
			return nil, nil, err
		}
		if !among && !fork && !branches[record.Branch] {
			continue
		}
		list := found
		if fork {
			list = forked
		}
		if list[t.in.ID] == nil {
			list[t.in.ID] = &Prompts{Mission: t.in.Mission}
		}
		list[t.in.ID].Turns = append(list[t.in.ID].Turns, record)
	}
	first := func(a, b *Prompts) int { return a.Turns[0].Before().At.Compare(b.Turns[0].Before().At) }
	return slices.SortedFunc(maps.Values(found), first), slices.SortedFunc(maps.Values(forked), first), nil
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

type span struct{ first, last int }

// Dates returns when two commits were made; the first may be zero.
func (h *History) Dates(first, last object.Hash) (from, to time.Time, err error) {
	for _, of := range []struct {
		commit object.Hash
		at     *time.Time
	}{{first, &from}, {last, &to}} {
		if of.commit.IsZero() {
			continue
		}
		c, err := h.objects.Commit(of.commit)
		if err != nil {
			return from, to, err
		}
		*of.at = c.Committer.When
	}
	return from, to, nil
}
