package turns

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/workspace"
)

// byCommit finds the state that a commit holds, in the current mission or else in any that keeps it:
// the end of its newest turn there, else a turn's start, else a saved one. Any such state that the user
// may rely on goes before all others, for a stranger's ledger may keep a commit of ours.
func byCommit(ctx context.Context, w *workspace.Workspace, current record.ID, rev string) (*State, error) {
	commit, err := w.Repo.Resolve(ctx, rev)
	if err != nil {
		return nil, missing(ctx, w.Repo, fmt.Sprintf("turn %q", rev), rev)
	}
	missions, err := keeping(ctx, w, current, commit)
	if err != nil {
		return nil, err
	}
	first := func(id record.ID) int {
		switch {
		case id == current:
			return 0
		case w.Trust.Known(id):
			return 1
		}
		return 2
	}
	ids := slices.SortedFunc(maps.Keys(missions), func(a, b record.ID) int {
		return cmp.Or(cmp.Compare(first(a), first(b)), cmp.Compare(a, b))
	})
	k := commitFinder{ctx: ctx, repo: w.Repo, objects: w.Repo.Objects(ctx), commit: commit, left: readings{maxEvents, maxLooked, maxRecords}}
	defer k.objects.Close()
	var unread ledger.ReadErrors
	var best *State
	most := 0
	for i, id := range ids {
		if best != nil && i >= maxKeeping || i >= maxSearched || k.left.events == 0 {
			break
		}
		s, err := k.state(id)
		if ctx.Err() != nil {
			return nil, err
		}
		unread.Add(err)
		if s == nil {
			continue
		}
		rank := s.rank()
		if rank+usableRank <= most {
			continue // who recorded it is not asked in vain: its whole ledger may be read for that
		}
		if _, err := s.Usable(ctx, w); err == nil {
			rank += usableRank
		}
		if rank > most {
			best, most = s, rank
		}
		if most == endRank+usableRank {
			break
		}
	}
	if best != nil {
		return best, nil
	}
	if err := unread.Err(); err != nil {
		return nil, err
	}
	return nil, &MissingError{What: fmt.Sprintf("a turn that ended in commit %q", rev)}
}

// keeping returns the missions that keep a commit; of archived ones those that its message names. Where a stranger's ledger holds something that is too
// large for git, they are those that may: the current one, and all that this clone knows.
func keeping(ctx context.Context, w *workspace.Workspace, current record.ID, commit git.Hash) (map[record.ID]git.Hash, error) {
	missions, err := ledger.Keeping(ctx, w.Repo.Wary(), commit)
	if ctx.Err() != nil {
		return nil, err
	}
	if err == nil {
		return missions, addNamed(ctx, w, commit, missions)
	}
	if missions, err = ledger.List(ctx, w.Repo); err != nil {
		return nil, err
	}
	maps.DeleteFunc(missions, func(id record.ID, _ git.Hash) bool { return id != current && !w.Trust.Known(id) })
	return missions, nil
}

// addNamed adds the missions that a commit of ours names in trailers. They may be archived, and no ref leads
// from them to the commit then; whether they do keep it, their ledgers say.
func addNamed(ctx context.Context, w *workspace.Workspace, commit git.Hash, missions map[record.ID]git.Hash) error {
	objects := w.Repo.Objects(ctx)
	defer objects.Close()
	c, err := objects.Commit(commit)
	if err != nil {
		return nil // too large for one of ours
	}
	for _, t := range ledger.ReadTrailers(c.Message) {
		if _, ok := missions[t.Mission]; ok || len(missions) >= maxSearched {
			continue
		}
		tip, err := ledger.Tip(ctx, w.Repo, t.Mission)
		if errors.Is(err, git.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		missions[t.Mission] = tip
	}
	return nil
}

// How many missions that keep a commit are looked into: if it is a state of one of them, and at all. One
// of the user's own commits may be kept by every mission, and be a state of none.
const (
	maxKeeping  = 100
	maxSearched = 1000
)

// The ranks of states that one commit holds.
const (
	savedRank = 1 + iota
	startRank
	endRank
	usableRank // is added for one that the user may rely on
)

func (s *State) rank() int {
	switch {
	case s.Saved:
		return savedRank
	case s.Start:
		return startRank
	}
	return endRank
}

// How much is read for it: of all missions together, the user's own before those of strangers, and of one,
// since the current mission comes first and may be a stranger's.
const (
	maxEvents  = 150_000  // in chains
	maxLooked  = 10_000   // events whose ledgers are looked into, each for the record of its last turn
	maxRecords = 96 << 20 // bytes of records beyond that, of which each counts as leastRecord at least

	maxEventsOfOne  = 100_000
	maxLookedOfOne  = 100 // the newest that keep the commit
	maxRecordsOfOne = 64 << 20

	leastRecord = 4 << 10
)

// A readings is how much may still be read, see [maxEvents].
type readings struct{ events, looked, records int }

// A keeper looks for the states that a commit holds.
type commitFinder struct {
	ctx     context.Context
	repo    *git.Repo
	objects *git.Objects
	commit  git.Hash
	left    readings
}

// state finds the state of a mission that the commit holds, nil if it is none, as far as that can be read.
func (k *commitFinder) state(id record.ID) (*State, error) {
	events, err := eventsOf(k.ctx, k.repo, k.objects, id, min(maxEventsOfOne, k.left.events))
	if err != nil {
		return nil, err
	}
	k.left.events -= len(events)
	kept := -1
	looks := min(maxLookedOfOne, k.left.looked)
	for i, e := range events {
		if !slices.Contains(e.Keeps, k.commit) {
			continue
		}
		alone := i+1 < len(events) && e.Tree == events[i+1].Tree // it recorded nothing
		if kept < 0 || alone {
			kept = i
		}
		if alone || looks == 0 {
			continue
		}
		looks--
		k.left.looked--
		switch t, err := k.recorded(id, e); {
		case err != nil:
			return nil, err
		case t != nil && t.Code == k.commit:
			return t.After(), nil
		}
	}
	if kept < 0 {
		return nil, nil // it is one of the user's own, before the mission
	}
	// A turn may have started there, or its record was written once more, after later ones.
	var ended, started *State
	records := min(maxRecordsOfOne, k.left.records)
	err = Each(k.ctx, k.repo, id, func(t *Turn) error {
		size := max(t.Text.Size(), leastRecord)
		if size > records {
			return errFound
		}
		records -= size
		k.left.records -= size
		switch k.commit {
		case t.Code:
			ended = t.After()
			return errFound
		case t.Base:
			started = t.Before()
		}
		return nil
	})
	switch {
	case ended != nil:
		return ended, nil
	case k.ctx.Err() != nil:
		return nil, err
	case started != nil:
		return started, nil
	}
	return saved(k.objects, id, events[kept], k.commit)
}

// recorded returns the record of the last turn as it was at an event, nil if that can't be read.
func (k *commitFinder) recorded(id record.ID, e *ledger.CommitEvent) (*Turn, error) {
	l, err := ledger.At(k.objects, id, e.Hash)
	if err != nil {
		return nil, err
	}
	last, err := l.LastTurn()
	if err != nil || last == 0 {
		return nil, err
	}
	t, err := readTurn(l, last)
	if err != nil {
		return nil, nil // the one before was recorded by another event
	}
	return t, nil
}

// errFound ends a search: there is nothing more to find, or too much to read.
var errFound = errors.New("found")
