package qwen

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"gitagent/hooks"
	"gitagent/internal/session"
)

// Registered returns what the client of a process has registered: in a terminal
// it does so in sessions/<pid>.json, and changes that with its conversation. A
// client that was killed leaves the file.
//
// Seen with version 0.24.4, undocumented: an unexpected file is an unknown
// client.
func Registered(config string, pid int) (session.Registration, error) {
	const most = 64 << 10 // as the client
	var said struct {
		PID       int     `json:"pid"`
		Session   string  `json:"sessionId"`
		Start     string  `json:"procStart"` // the boot's id, a colon, and the process's start time
		Namespace float64 `json:"pidNs"`
	}
	f, err := os.Open(filepath.Join(config, "sessions", strconv.Itoa(pid)+".json"))
	if err == nil {
		defer f.Close()
		err = json.NewDecoder(io.LimitReader(f, most)).Decode(&said)
	}
	if err == nil && (said.PID != pid || !hooks.ValidID(said.Session)) {
		err = errors.New("it has another pid, or no session")
	}
	if err != nil {
		return session.Registration{}, fmt.Errorf("read registration of client %d: %w", pid, err)
	}
	r := session.Registration{PID: pid, Session: said.Session, Start: said.Start[strings.LastIndexByte(said.Start, ':')+1:]}
	if said.Namespace > 0 {
		r.Domain = fmt.Sprintf("linux::pid:[%.0f]", said.Namespace)
	}
	return r, nil
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
		if pid, err := strconv.Atoi(name); ok && err == nil && e.Type().IsRegular() {
			if r, err := Registered(config, pid); err == nil {
				all = append(all, r)
			}
		}
	}
	return all, nil
}
