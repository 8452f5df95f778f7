package workspace

import (
	"context"
	"fmt"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/session"
	"gitagent/internal/trust"
)

// TrustLevel returns how far a ledger, up to tip, may be relied on; see
// [trust.Trust.Of]. An unknown mission, from before git-agent noted writers,
// becomes this clone's if a session's local state has its last turn.
func (w *Workspace) TrustLevel(ctx context.Context, objects *git.Objects, id record.ID, tip object.Hash) (trust.Level, error) {
	s, err := w.Trust.Of(ctx, w.Repo, objects, id, tip)
	if err != nil || s.Whole || w.Trust.Known(id) || !w.witnessed(objects, id, tip) {
		return s, err
	}
	if err := w.Trust.Own(id, tip, object.Hash{}); err != nil {
		return s, err
	}
	return w.Trust.Of(ctx, w.Repo, objects, id, tip)
}

// Writers returns who recorded a ledger up to tip; see [trust.Trust.Writers].
func (w *Workspace) Writers(ctx context.Context, objects *git.Objects, id record.ID, tip object.Hash) (*trust.Writers, error) {
	if _, err := w.TrustLevel(ctx, objects, id, tip); err != nil { // it may note something
		return nil, err
	}
	return w.Trust.Writers(ctx, w.Repo, objects, id, tip)
}

// witnessed reports whether a session here recorded a ledger's last turn.
func (w *Workspace) witnessed(objects *git.Objects, id record.ID, tip object.Hash) bool {
	st := w.witnesses()[id]
	if st == nil {
		return false
	}
	l, err := ledger.At(objects, id, tip)
	if err != nil {
		return false
	}
	if last, err := l.LastTurn(); err != nil || last != st.Last.Turn {
		return false
	}
	var t record.Turn
	data, err := l.Read(ledger.TurnPath("turns", st.Last.Turn, ".json"))
	return err == nil && record.Decode(string(data), &t) == nil && t.Code == st.Last.Code && t.Session == st.Session
}

// lastOfMissions returns the last session that recorded to each mission.
func (w *Workspace) lastOfMissions() map[record.ID]*session.Known {
	last := make(map[record.ID]*session.Known)
	for _, st := range w.Store.All() {
		if l := st.Last; l != nil && (last[l.Mission] == nil || last[l.Mission].Last.Turn < l.Turn) {
			last[l.Mission] = st
		}
	}
	return last
}

// Usable opens the usable part of a ledger up to tip, if any. The error may
// wrap [ErrUntrusted].
func (w *Workspace) Usable(ctx context.Context, objects *git.Objects, id record.ID, tip object.Hash) (*ledger.Ledger, error) {
	s, err := w.TrustLevel(ctx, objects, id, tip)
	if err != nil {
		return nil, err
	}
	if s.Commit.IsZero() {
		return nil, fmt.Errorf("mission %s: %w", id, ErrUntrusted)
	}
	return ledger.At(objects, id, s.Commit)
}
