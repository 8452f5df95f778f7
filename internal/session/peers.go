package session

import "slices"

// A Liveness says whether a session lives, as far as can be told from here.
type Liveness int

const (
	Lives   Liveness = iota // its client runs, or may run where we can't look
	Ended                   // its end was seen
	MovedOn                 // its client runs and has gone on to another conversation
	Gone                    // its client is gone without an end
)

// A Peer is another session of this repository, and whether it lives.
type Peer struct {
	*Known
	Liveness Liveness
}

// Peers returns the n most recent sessions, the newest first, without self.
func (s Store) Peers(self string, n int, registry []Registration) []Peer {
	var list []Peer
	for _, st := range s.Recent(n) {
		if st.Session != self {
			list = append(list, Peer{st, LivenessOf(st, registry)})
		}
	}
	return list
}

// LivenessOf reports whether a session lives. A session resumed by another
// client is in the registry with that client, and a client that went on to
// another conversation is there with that conversation. A file that is locked
// for the session says more than the client's process, which may run many.
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

// Registered reports whether the registry has the session with a client that is
// not known to have ended.
func Registered(session string, registry []Registration) bool {
	return slices.ContainsFunc(registry, func(r Registration) bool {
		return r.Session == session && (!r.Here() || r.Runs())
	})
}
