package workspace

import (
	"context"

	"gitagent/internal/git"
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

// Level is [Workspace.TrustLevel] at l's tip; on an error nothing is trusted.
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

// Trusted reports whether the user may rely on a ledger's paths at its tip: the
// usable part has the same there.
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
