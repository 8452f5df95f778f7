package turns

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/workspace"
)

// byCommit returns the state that a commit holds, of the current mission or
// another: a turn's end, else a start, else a saved one. A trusted state wins,
// since an untrusted ledger may keep our commits.
func byCommit(ctx context.Context, w *workspace.Workspace, current record.ID, rev string) (*State, error) {
	commit, err := w.Repo.Resolve(ctx, rev)
	if err != nil {
		return nil, Missing(ctx, w.Repo, fmt.Sprintf("turn %q", rev), rev)
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
			continue // skip Usable, which may read the whole ledger
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

// keeping returns the missions that keep a commit, with archived ones that its
// message names. If an untrusted ledger has something too large for git, it
// returns those that may: the current one and those known to this clone.
func keeping(ctx context.Context, w *workspace.Workspace, current record.ID, commit object.Hash) (map[record.ID]object.Hash, error) {
	missions, err := ledger.Keeping(ctx, w.Repo.With(git.Wary), commit)
	if ctx.Err() != nil {
		return nil, err
	}
	if err == nil {
		return missions, addNamed(ctx, w, commit, missions)
	}
	if missions, err = ledger.List(ctx, w.Repo); err != nil {
		return nil, err
	}
	maps.DeleteFunc(missions, func(id record.ID, _ object.Hash) bool { return id != current && !w.Trust.Known(id) })
	return missions, nil
}

// addNamed adds missions that a commit's trailers name: if they are archived,
// no ref leads to the commit. Their ledgers tell whether they keep it.
func addNamed(ctx context.Context, w *workspace.Workspace, commit object.Hash, missions map[record.ID]object.Hash) error {
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

// Limits of how many missions that keep a commit are searched: once a state is
// found, and at all. Every mission may keep it and none be in that state.
const (
	maxKeeping  = 100
	maxSearched = 1000
)

const (
	savedRank = 1 + iota
	startRank
	endRank
	usableRank // added if the user may rely on the state
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

// Limits of what is read: of all missions, the user's first, and of one, since
// the current one comes first and may be untrusted.
const (
	maxEvents  = 150_000  // in chains
	maxLooked  = 10_000   // events whose ledger is opened for the record of its last turn
	maxRecords = 96 << 20 // bytes of further records, each counted as leastRecord at least

	maxEventsOfOne  = 100_000
	maxLookedOfOne  = 100 // the newest that keep the commit
	maxRecordsOfOne = 64 << 20

	leastRecord = 4 << 10
)

// A readings is how much may still be read, see [maxEvents].
type readings struct{ events, looked, records int }

type commitFinder struct {
	ctx     context.Context
	repo    *git.Repo
	objects *git.Objects
	commit  object.Hash
	left    readings
}

// state returns the state of a mission that the commit holds, or nil.
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
		return nil, nil // one of the user's own, from before the mission
	}
	// A turn may have started there, or its record was written again later.
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

// recorded returns the last turn's record as of an event, or nil.
func (k *commitFinder) recorded(id record.ID, e *ledger.CommitEvent) (*Turn, error) {
	l, err := ledger.At(k.objects, id, e.Hash)
	if err != nil {
		return nil, err
	}
	last, err := l.LastTurn()
	if err != nil || last == 0 {
		return nil, err
	}
	t, err := ReadIn(l, last)
	if err != nil {
		return nil, nil // another event recorded the one before
	}
	return t, nil
}

// errFound ends a search: found, or too much to read.
var errFound = errors.New("found")
