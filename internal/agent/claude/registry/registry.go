// Package registry reads what clients say about themselves while they run: sessions/<pid>.json in their
// configuration directory. /clear changes the session in the same file. A client that was killed leaves
// the file behind, and nobody cleans it up.
//
// Seen with version 2.1.329. It is not documented: a file that is not as expected counts as an unknown
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

// A Client is one that has registered itself, and what it waits for if its Status is "waiting".
type Running struct {
	session.Registration
	WaitingFor string
}

// Read reads the registration of a client. The error wraps [fs.ErrNotExist] for none.
func Read(config string, pid int) (Running, error) {
	// Beside it is <pid>.<hash>.key, a secret: so open files by name, never by pattern.
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

// All reads all readable registrations, even those of dead clients, in no particular order.
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
