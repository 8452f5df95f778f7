package handoffstore

import (
	"context"
	"strings"

	"gitagent/internal/agent"
	"gitagent/internal/record"
	"gitagent/internal/session"
)

// MaxSessions bounds the recent sessions that are looked at, as a dead one is
// found by the next that starts.
const MaxSessions = 32

// An Abandoned is a session that ended without handing off.
type Abandoned struct {
	*session.Known
	Exit record.ExitType
}

// Abandoned reports whether a peer ended here without handing off.
func (s *Store) Abandoned(n session.Peer) (Abandoned, bool) {
	exit := exitOf(n)
	return Abandoned{n.Known, exit}, exit != "" && n.Worktree == s.Repo.GitDir
}

// exitOf returns how a session ended, or "" if it lives, has handed off or has
// recorded nothing. If its state is unknown, it counts as alive.
func exitOf(n session.Peer) record.ExitType {
	switch {
	case n.Mission == "" || n.HandedOff || n.Liveness == session.Lives:
		return ""
	case n.Liveness == session.Gone && n.Open != nil:
		return record.Killed
	case n.Liveness == session.Gone && !agent.Of(n.Agent).EndsUntold:
		return record.Crash
	}
	return record.Clean // its SessionEnd hook did not get that far, or a /clear left it, or its client has none
}

// LastSession returns the last session of a mission in this worktree, or nil.
func (s *Store) LastSession(id record.ID) *session.Known {
	for _, st := range s.Workspace.Store.Recent(MaxSessions) {
		if st.Worktree == s.Repo.GitDir && st.Mission == id && !strings.HasPrefix(st.Session, session.ByHand) {
			return st
		}
	}
	return nil
}

// Ending notes that a session has ended, before anything else is done about it.
// It reports whether the session was handed off before, as events may repeat.
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
