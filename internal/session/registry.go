package session

import (
	"os"
	"strings"
)

// A Registration is a session that a client says it runs, by a file of its own. A client that was killed
// may have left it behind.
type Registration struct {
	PID     int
	Session string
	Start   string // as in [Client]
	Domain  string // of processes among which PID is unique; see [Domain]
	Status  string // idle, busy, waiting; "" if the client doesn't say
	// Held is set if the client has locked a file for the session; then PID may be 0.
	Held bool
}

// Domain names the set of processes among which this process's pid is unique, in the form that
// clients use: one machine and one pid namespace. It is "" if either can't be read.
func Domain() string {
	machine, err := os.ReadFile("/etc/machine-id")
	namespace, e := os.Readlink("/proc/self/ns/pid")
	if err != nil || e != nil {
		return ""
	}
	return "linux:" + strings.TrimSpace(string(machine)) + ":" + namespace
}

// Here reports whether the client runs, or ran, where we can look for it:
// a home directory may be shared by machines and containers.
func (r Registration) Here() bool {
	domain := Domain()
	return r.Domain == "" || domain == "" || r.Domain == domain
}

// Runs reports whether the registration's process still exists. It is only meaningful if r.Here,
// and always false where the system doesn't tell when a process started, unless r.Held.
func (r Registration) Runs() bool {
	if r.Held {
		return true
	}
	start := ReadClient(r.PID).Start
	return start != "" && start == r.Start
}
