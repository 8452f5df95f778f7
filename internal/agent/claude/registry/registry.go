// Package registry reads sessions/<pid>.json in clients' configuration
// directory, which running clients write. /clear changes the session in the
// file. A client that was killed leaves its file.
//
// Seen with version 2.1.329, undocumented: an unexpected file is an unknown
// client.
package registry

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

// A Running is a registered client. It waits if its Status is "waiting".
type Running struct {
	session.Registration
	WaitingFor string
}

// Read reads a client's registration. An error may wrap [fs.ErrNotExist].
func Read(config string, pid int) (Running, error) {
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
		return Running{}, fmt.Errorf("read registration of client %d: %w", pid, err)
	}
	return Running{
		session.Registration{PID: pid, Session: said.Session, Start: said.Start, Domain: said.Domain, Status: said.Status},
		said.WaitingFor,
	}, nil
}

// All reads all readable registrations, even of dead clients, in no order.
func All(config string) ([]session.Registration, error) {
	entries, err := os.ReadDir(filepath.Join(config, "sessions"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read registrations of clients: %w", err)
	}
	var all []session.Registration
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		if pid, err := strconv.Atoi(name); ok && err == nil {
			if c, err := Read(config, pid); err == nil {
				all = append(all, c.Registration)
			}
		}
	}
	return all, nil
}
