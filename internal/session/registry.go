package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A Registration is what a client says about itself while it runs, in
// sessions/<pid>.json of its configuration directory. /clear changes the session in the same file.
// A client that was killed leaves the file behind, and nobody cleans it up.
//
// Seen with version 2.1.329. It is not documented: a file that is not as expected counts as an
// unknown client.
type Registration struct {
	PID        int    `json:"pid"`
	Session    string `json:"sessionId"`
	Start      string `json:"procStart"` // as in [Client]
	Domain     string `json:"pidDomain"` // of processes among which PID is unique; see [Domain]
	Status     string `json:"status"`    // idle, busy, waiting
	WaitingFor string `json:"waitingFor"`
	// Held is set if the client has locked a file for the session; then PID may be 0.
	Held bool `json:"-"`
}

// ReadRegistration reads the registration of a client. The error wraps [fs.ErrNotExist] for none.
func ReadRegistration(configDir string, pid int) (Registration, error) {
	// Beside it is <pid>.<hash>.key, a secret: so open files by name, never by pattern.
	data, err := os.ReadFile(filepath.Join(configDir, "sessions", strconv.Itoa(pid)+".json"))
	var r Registration
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err == nil && (r.PID != pid || r.Session == "") {
		err = errors.New("it has another pid, or no session")
	}
	if err != nil {
		return Registration{}, fmt.Errorf("read registration of client %d: %w", pid, err)
	}
	return r, nil
}

// Registrations reads all readable registrations, even those of dead clients, in no particular order.
func Registrations(configDir string) ([]Registration, error) {
	entries, err := os.ReadDir(filepath.Join(configDir, "sessions"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read registrations of clients: %w", err)
	}
	var all []Registration
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		if pid, err := strconv.Atoi(name); ok && err == nil {
			if r, err := ReadRegistration(configDir, pid); err == nil {
				all = append(all, r)
			}
		}
	}
	return all, nil
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
