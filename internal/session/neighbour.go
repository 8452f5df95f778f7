package session

import "slices"

// A Fate is what has become of a session, as far as we can tell.
type Fate int

const (
	Lives   Fate = iota // its client runs, or may run where we can't look
	Ended               // its end was seen
	MovedOn             // its client runs and has gone on to another conversation
	Gone                // its client is gone without an end
)

// A Neighbour is a session that was heard of in this repository, and what has become of it.
type Neighbour struct {
	*State
	Fate Fate
}

// Neighbours returns the n most recent sessions, the newest first, without self.
func (s Store) Neighbours(self string, n int, registry []Registration) []Neighbour {
	var list []Neighbour
	for _, st := range s.Recent(n) {
		if st.Session != self {
			list = append(list, Neighbour{st, FateOf(st, registry)})
		}
	}
	return list
}

// FateOf tells what has become of a session. A session resumed by another client is in the registry
// with that client, and a client that went on to another conversation is there with that conversation.
// A file that was locked for the session says more than the client's process, which may run many.
func FateOf(st *State, registry []Registration) Fate {
	locked, known := st.Hold.locked()
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

// Registered reports whether the registry has the session with a client not known to have ended.
func Registered(session string, registry []Registration) bool {
	return slices.ContainsFunc(registry, func(r Registration) bool {
		return r.Session == session && (!r.Here() || r.Runs())
	})
}
