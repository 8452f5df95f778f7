package session

import (
	"slices"
	"time"
)

// A Liveness says whether a session lives, if that can be told from here.
type Liveness int

const (
	Lives   Liveness = iota // its client runs, or may run where we can't look
	Ended                   // its end was seen
	MovedOn                 // its client runs another conversation now
	Gone                    // its client is gone without an end
)

// A Peer is another session of this repository.
type Peer struct {
	*Known
	Liveness Liveness
}

// Peers returns the n most recent sessions but self, the newest first.
func (s Store) Peers(self string, n int, registry []Registration) []Peer {
	var list []Peer
	for _, st := range s.Recent(n) {
		if st.Session != self {
			list = append(list, Peer{st, LivenessOf(st, registry)})
		}
	}
	return list
}

// maxSilent is how long a session whose client is unknown counts as running.
const maxSilent = 24 * time.Hour

// Runs reports whether a peer lives as far as anything shows that: its client
// is known, or it has been in a turn since a day before now at most.
func (p Peer) Runs(registry []Registration, now time.Time) bool {
	known := p.Client.PID > 0 || p.ClientLock != (ClientLock{}) || Registered(p.Session, registry)
	return p.Liveness == Lives && (known || p.Open != nil && now.Sub(p.Seen) <= maxSilent)
}

// Beside reports whether a peer that runs is at work beside a session, in the
// worktree with that git directory. A client's process has one conversation
// after another, so only one that is in a turn counts beside its next.
func (p Peer) Beside(me *Known, gitDir string) bool {
	switch {
	case p.Session == me.Session, p.Worktree != gitDir, p.Mission == "":
		return false
	case p.Client.PID > 0 && p.Client == me.Client:
		return p.Open != nil
	}
	return true
}

// LivenessOf reports whether a session lives. The registry has a resumed
// session with its new client, and a client with its new conversation. A file
// locked for the session counts more than a process, which may run several
// sessions.
func LivenessOf(st *Known, registry []Registration) Liveness {
	locked, known := st.ClientLock.locked()
	switch {
	case st.Ended:
		return Ended
	case locked, Registered(st.Session, registry):
		return Lives
	case known, !st.Client.Live():
		return Gone
	}
	for _, r := range registry {
		if r.PID != 0 && r.PID == st.Client.PID && r.Start == st.Client.Start && r.Here() && r.Session != st.Session {
			return MovedOn
		}
	}
	return Lives
}

// Registered reports whether the registry has the session with a client that
// has not ended as far as we can see.
func Registered(session string, registry []Registration) bool {
	return slices.ContainsFunc(registry, func(r Registration) bool {
		return r.Session == session && (!r.Here() || r.Runs())
	})
}
