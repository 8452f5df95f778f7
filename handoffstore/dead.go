package handoffstore

import (
	"context"
	"strings"

	"gitagent/internal/ledger"
	"gitagent/internal/session"
)

// maxSessions is how many sessions are looked at: those that were last heard of. One that is gone is found by the
// next session that starts, so it is among them.
const maxSessions = 32

// A Left is a session that is over and has not handed off.
type Left struct {
	*session.State
	Exit ExitType
}

// Left finds the sessions of this worktree that are over and have not handed off, but for the one that starts. registry are the
// clients that are registered; see [session.Registrations]. The store's lock is held.
func (s *Store) Left(starts string, registry []session.Registration) []Left {
	var left []Left
	for _, st := range s.local().Recent(maxSessions) {
		if st.Session == starts || st.Worktree != s.Repo.GitDir {
			continue
		}
		if exit, over := judge(st, registry); over {
			left = append(left, Left{st, exit})
		}
	}
	return left
}

// LastSession is the one that worked last on a mission in this worktree, nil if none is known.
func (s *Store) LastSession(id ledger.ID) *session.State {
	for _, st := range s.local().Recent(maxSessions) {
		if st.Worktree == s.Repo.GitDir && st.Mission == string(id) && !strings.HasPrefix(st.Session, byHand) {
			return st
		}
	}
	return nil
}

// byHand begins the names of states that no session of a client has: turns recorded by hand.
const byHand = "hand-"

// judge decides whether a session is over and has something to hand off, and how it ended.
//
// A session whose client lives is left alone: another one in the same checkout, or the same that was taken up again elsewhere.
// The client's registry tells when a process has gone on to another conversation. What
// nobody can tell counts as alive.
func judge(st *session.State, registry []session.Registration) (ExitType, bool) {
	switch {
	case st.Mission == "" || st.HandedOff:
		return "", false
	case st.Ended:
		return Clean, true // the hook of its end did not get that far
	}
	for _, r := range registry {
		if r.Session == st.Session && (!r.Here() || r.Runs()) {
			return "", false
		}
	}
	if st.Client.Live() {
		for _, r := range registry {
			if r.PID == st.Client.PID && r.Start == st.Client.Start && r.Here() && r.Session != st.Session {
				return Clean, true
			}
		}
		return "", false
	}
	if st.Open != nil {
		return Killed, true
	}
	return Crash, true
}

// Ending notes that the end of a session was seen, before anything else is done about it. It reports whether all of that was done
// before: the same event may arrive twice. The store's lock is held.
func (s *Store) Ending(ctx context.Context, id string) (done bool, err error) {
	err = s.change(ctx, id, func(st *session.State) bool {
		done = st.HandedOff
		if done || st.Ended || st.Mission == "" {
			return false
		}
		st.Ended = true
		return true
	})
	return done, err
}

// HandedOff notes that what a session leaves is in the ledger.
func (s *Store) HandedOff(ctx context.Context, id string) error {
	return s.change(ctx, id, func(st *session.State) bool {
		news := !st.HandedOff
		st.Ended, st.HandedOff = true, true
		return news
	})
}

// change changes the local state of a session, if f says that it has.
func (s *Store) change(ctx context.Context, id string, f func(*session.State) bool) error {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	store := s.local()
	unlock, err := store.LockSession(ctx, id)
	if err != nil {
		return err
	}
	defer unlock()
	st := store.Load(id)
	if !f(st) {
		return nil
	}
	return store.Save(st)
}
