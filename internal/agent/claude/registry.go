package claude

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"gitagent/internal/session"
)

// A registration is a running client's sessions/<pid>.json in its configuration
// directory. /clear changes the session in it. A client that was killed leaves
// the file.
//
// Seen with version 2.1.329, undocumented: an unexpected file is an unknown
// client.
type registration struct {
	session.Registration
	WaitingFor string // if Status is "waiting"
}

// readRegistration reads a client's registration. An error may wrap
// [fs.ErrNotExist].
func readRegistration(config string, pid int) (registration, error) {
	// <pid>.<hash>.key beside it is a secret, so don't open files by pattern.
	data, err := os.ReadFile(filepath.Join(config, "sessions", strconv.Itoa(pid)+".json"))
	var said struct {
		PID        int    `json:"pid"`
		Session    string `json:"sessionId"`
		Start      string `json:"procStart"`
		Domain     string `json:"pidDomain"`
		Status     string `json:"status"`
		WaitingFor string `json:"waitingFor"`
	}
	if err == nil {
		err = json.Unmarshal(data, &said)
	}
	if err == nil && (said.PID != pid || said.Session == "") {
		err = errors.New("it has another pid, or no session")
	}
	if err != nil {
		return registration{}, fmt.Errorf("read registration of client %d: %w", pid, err)
	}
	return registration{
		session.Registration{PID: pid, Session: said.Session, Start: said.Start, Domain: said.Domain, Status: said.Status},
		said.WaitingFor,
	}, nil
}

// Registered returns what the client of a process has registered.
func Registered(config string, pid int) (session.Registration, error) {
	c, err := readRegistration(config, pid)
	return c.Registration, err
}

// Running lists all readable registrations, even of dead clients, in no order.
func Running(config string) ([]session.Registration, error) {
	entries, err := os.ReadDir(filepath.Join(config, "sessions"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read registrations of clients: %w", err)
	}
	var all []session.Registration
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		if pid, err := strconv.Atoi(name); ok && err == nil {
			if c, err := readRegistration(config, pid); err == nil {
				all = append(all, c.Registration)
			}
		}
	}
	return all, nil
}
