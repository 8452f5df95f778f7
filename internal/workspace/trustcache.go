package workspace

import (
	"context"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/trust"
)

// A Relied tells, for one pass over many missions, what of their ledgers the user may rely on. Each mission
// is looked at once.
type TrustCache struct {
	ctx     context.Context
	w       *Workspace
	objects *git.Objects
	of      map[record.ID]trust.Level
	usable  *ledger.Ledger // the usable part of the mission that was asked about last
}

// TrustCache begins a pass, which reads with objects.
func (w *Workspace) TrustCache(ctx context.Context, objects *git.Objects) *TrustCache {
	return &TrustCache{ctx: ctx, w: w, objects: objects, of: make(map[record.ID]trust.Level)}
}

// Level is [Workspace.Standing] of a ledger at its tip; a mission about which nothing can be said is a
// stranger's.
func (r *TrustCache) Level(l *ledger.Ledger) trust.Level {
	s, known := r.of[l.ID]
	if !known {
		var err error
		if s, err = r.w.TrustLevel(r.ctx, r.objects, l.ID, l.Tip); err != nil {
			s = trust.Level{}
		}
		r.of[l.ID] = s
	}
	return s
}

// Trusted reports whether the user may rely on what a ledger, at its tip, holds at these paths: the usable part
// holds the same there.
func (r *TrustCache) Trusted(l *ledger.Ledger, paths ...string) bool {
	s := r.Level(l)
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
