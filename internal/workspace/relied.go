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
type Relied struct {
	ctx     context.Context
	w       *Workspace
	objects *git.Objects
	of      map[record.ID]trust.Standing
	usable  *ledger.Ledger // the usable part of the mission that was asked about last
}

// Relied begins a pass, which reads with objects.
func (w *Workspace) Relied(ctx context.Context, objects *git.Objects) *Relied {
	return &Relied{ctx: ctx, w: w, objects: objects, of: make(map[record.ID]trust.Standing)}
}

// Standing is [Workspace.Standing] of a ledger at its tip; a mission about which nothing can be said is a
// stranger's.
func (r *Relied) Standing(l *ledger.Ledger) trust.Standing {
	s, known := r.of[l.ID]
	if !known {
		var err error
		if s, err = r.w.Standing(r.ctx, r.objects, l.ID, l.Tip); err != nil {
			s = trust.Standing{}
		}
		r.of[l.ID] = s
	}
	return s
}

// On reports whether the user may rely on what a ledger, at its tip, holds at these paths: the usable part
// holds the same there.
func (r *Relied) On(l *ledger.Ledger, paths ...string) bool {
	s := r.Standing(l)
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
