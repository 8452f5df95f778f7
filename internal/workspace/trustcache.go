package workspace

import (
	"context"
	"maps"
	"slices"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/trust"
)

// A TrustCache looks at each mission's trust once, in a pass over many.
type TrustCache struct {
	ctx     context.Context
	w       *Workspace
	objects *git.Objects
	of      map[record.ID]trust.Level
	usable  *ledger.Ledger // the usable part of the last mission asked about
}

// TrustCache returns a cache for one pass, which reads with objects.
func (w *Workspace) TrustCache(ctx context.Context, objects *git.Objects) *TrustCache {
	return &TrustCache{ctx: ctx, w: w, objects: objects, of: make(map[record.ID]trust.Level)}
}

// Look looks at many missions together, given with the tips of their ledgers:
// those of others cost a commit each.
func (r *TrustCache) Look(tips map[record.ID]object.Hash) error {
	untrusted, err := r.w.Trust.Untrusted(r.ctx, r.w.Repo, r.objects, tips)
	for id := range untrusted {
		if r.w.witnesses()[id] == nil {
			r.of[id] = trust.Level{By: trust.Unknown}
		}
	}
	return err
}

// Ask is [Workspace.TrustLevel].
func (r *TrustCache) Ask(id record.ID, tip object.Hash) (trust.Level, error) {
	if s, known := r.of[id]; known {
		return s, nil
	}
	s, err := r.w.TrustLevel(r.ctx, r.objects, id, tip)
	if err != nil {
		return trust.Level{}, err
	}
	r.of[id] = s
	return s, nil
}

// Level is Ask, where an error says that nothing is trusted.
func (r *TrustCache) Level(id record.ID, tip object.Hash) trust.Level {
	s, err := r.Ask(id, tip)
	if err != nil {
		r.of[id] = s
	}
	return s
}

// Part parts missions, given with the tips of their ledgers, into those that
// are all trusted and the others, which are in order of their ids.
func (w *Workspace) Part(ctx context.Context, tips map[record.ID]object.Hash) (trusted map[record.ID]object.Hash, others []record.ID, err error) {
	objects := w.Repo.Objects(ctx)
	defer objects.Close()
	relied := w.TrustCache(ctx, objects)
	if err := relied.Look(tips); err != nil {
		return nil, nil, err
	}
	trusted = make(map[record.ID]object.Hash)
	for _, id := range slices.Sorted(maps.Keys(tips)) {
		if relied.Level(id, tips[id]).Whole {
			trusted[id] = tips[id]
		} else {
			others = append(others, id)
		}
	}
	return trusted, others, ctx.Err()
}

// Trusted reports whether the user may rely on a ledger's paths at its tip: the
// usable part has the same there.
func (r *TrustCache) Trusted(l *ledger.Ledger, paths ...string) bool {
	s := r.Level(l.ID, l.Tip)
	if s.Commit.IsZero() || s.Whole {
		return s.Whole
	}
	if r.usable == nil || r.usable.ID != l.ID || r.usable.Tip != s.Commit {
		var err error
		if r.usable, err = ledger.At(r.objects, l.ID, s.Commit); err != nil {
			r.usable = nil
			return false
		}
	}
	for _, path := range paths {
		is, err := l.Entry(path)
		if err != nil {
			return false
		}
		if was, err := r.usable.Entry(path); err != nil || was.Hash != is.Hash || was.Mode != is.Mode {
			return false
		}
	}
	return true
}
