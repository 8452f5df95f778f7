package workspace

import (
	"context"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
)

// Newest returns the mission written last, and how many there are. It is "" if
// git fails, as at an untrusted commit that is too large.
func (w *Workspace) Newest(ctx context.Context) (record.ID, int, error) {
	refs, err := ledger.Refs(ctx, w.Repo)
	if err != nil {
		return "", 0, err
	}
	id, err := w.NewestOf(ctx, refs)
	return id, ledger.Count(refs), err
}

// NewestOf is [Workspace.Newest] of refs that [ledger.Refs] has read.
func (w *Workspace) NewestOf(ctx context.Context, refs map[string]object.Hash) (record.ID, error) {
	if ledger.Count(refs) == 0 {
		return "", nil
	}
	var last newest
	unknown := w.seen.dates(refs, last.look)
	if len(unknown) > 0 {
		patterns := unknown
		if len(unknown) > many {
			patterns = []string{record.MissionRefs}
		}
		dates, err := w.Repo.With(git.Wary).CommitDates(ctx, patterns...)
		if err != nil {
			return "", ctx.Err()
		}
		w.seen.noteDates(unknown, dates, last.look)
	}
	id, _ := record.ParseID(strings.TrimPrefix(last.ref, record.MissionRefs))
	return id, nil
}

// A newest is the ref with the latest date, as git sorts.
type newest struct {
	ref string
	at  int64
}

func (n *newest) look(ref string, at int64) {
	if n.ref == "" || at > n.at || at == n.at && ref < n.ref {
		n.ref, n.at = ref, at
	}
}

// dates calls f with when the tips of refs were committed, and returns those of
// which that is not known.
func (s *seen) dates(refs map[string]object.Hash, f func(ref string, at int64)) (unknown []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ref, tip := range refs {
		if m := s.of[record.ID(strings.TrimPrefix(ref, record.MissionRefs))]; m != nil && m.tip == tip && m.date >= 0 {
			m.asked = true
			f(ref, m.date)
		} else {
			unknown = append(unknown, ref)
		}
	}
	return unknown
}

// noteDates notes what git said of refs, and calls f with it.
func (s *seen) noteDates(refs []string, dates map[string]git.Dated, f func(ref string, at int64)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ref := range refs {
		is, ok := dates[ref]
		if !ok {
			continue // git knows no such ref
		}
		f(ref, is.At)
		if id, err := record.ParseID(strings.TrimPrefix(ref, record.MissionRefs)); err == nil && s.read && !is.Hash.IsZero() {
			m := s.mission(id)
			m.under(is.Hash)
			m.date = is.At
			s.anew++
		}
	}
}
