package handoffstore

import (
	"context"
	"strings"

	"gitagent/internal/record"
	"gitagent/internal/session"
)

// MaxSessions is how many sessions are looked at, the most recent ones. A dead session is found by
// the next one that starts, so it is among them.
const MaxSessions = 32

// An Abandoned is a session that ended without handing off.
type Abandoned struct {
	*session.Known
	Exit record.ExitType
}

// Abandoned reports whether a peer is a session of this worktree that ended without handing off.
func (s *Store) Abandoned(n session.Peer) (Abandoned, bool) {
	exit := exitOf(n)
	return Abandoned{n.Known, exit}, exit != "" && n.Worktree == s.Repo.GitDir
}

// exitOf is how a session ended if it has something to hand off; "" if it is alive, has handed off
// already, or has recorded nothing. If nobody can tell, it counts as alive.
func exitOf(n session.Peer) record.ExitType {
	switch {
	case n.Mission == "" || n.HandedOff || n.Liveness == session.Lives:
		return ""
	case n.Liveness == session.Gone && n.Open != nil:
		return record.Killed
	case n.Liveness == session.Gone:
		return record.Crash
	}
	return record.Clean // its SessionEnd hook did not get that far, or a /clear left it
}

// LastSession is the session that last worked on a mission in this worktree, nil if none is known.
func (s *Store) LastSession(id record.ID) *session.Known {
	for _, st := range s.Workspace.Store.Recent(MaxSessions) {
		if st.Worktree == s.Repo.GitDir && st.Mission == id && !strings.HasPrefix(st.Session, session.ByHand) {
			return st
		}
	}
	return nil
}

// Ending notes that a session has ended, before anything else is done about it. It reports whether
// the session has been handed off before, as the same event may arrive twice.
func (s *Store) Ending(ctx context.Context, id string) (done bool, err error) {
	err = s.Workspace.Store.Update(ctx, id, func(st *session.Known) error {
		done = st.HandedOff
		if done || st.Ended || st.Mission == "" {
			return session.ErrUnchanged
		}
		st.Ended = true
		return nil
	})
	return done, err
}

// HandedOff notes that a session's handoff is in the ledger.
func (s *Store) HandedOff(ctx context.Context, id string) error {
	return s.Workspace.Store.Update(ctx, id, func(st *session.Known) error {
		if st.HandedOff {
			return session.ErrUnchanged
		}
		st.Ended, st.HandedOff = true, true
		return nil
	})
}
