package codex

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gitagent/hooks"
	"gitagent/internal/lock"
	"gitagent/internal/session"
)

// locks is the directory in the client's configuration where it locks a file for each thread that
// lives: from the moment in which the thread can be prompted until its SessionEnd hooks have run. It
// removes the file then; what a killed client has left, the next one removes. Seen with 0.169.0.
const locks = "thread-writer-locks"

// Event decodes a payload. The client's configuration, and in it the lock of the thread, is above the
// rollout: what the environment says may be about another terminal.
func Event(r io.Reader) (*hooks.Payload, error) {
	e, err := hooks.Parse(r)
	if err == nil {
		e.Lock = lockOf(e.TranscriptPath, e.SessionID)
	}
	return e, err
}

// lockOf is the lock of the thread whose rollout is at path: <config>/sessions/2026/11/22/rollout-....
func lockOf(path, thread string) string {
	day := filepath.Dir(path)
	top := filepath.Dir(filepath.Dir(filepath.Dir(day)))
	if !strings.HasPrefix(filepath.Base(path), "rollout-") || filepath.Base(top) != "sessions" {
		return ""
	}
	return filepath.Join(filepath.Dir(top), locks, thread+".lock")
}

// Client finds the client among the processes that this one descends from. A command that a sub-agent
// runs has the session of its parent, as hooks have.
func Client(getenv func(string) string) hooks.Environment {
	c := hooks.Environment{SessionID: cmp.Or(getenv("CODEX_SESSION_ID"), getenv("CODEX_THREAD_ID"))}
	if !hooks.ValidID(c.SessionID) {
		c.SessionID = ""
	}
	for _, p := range session.Ancestors() {
		if slices.Contains(Programs, p.Name) {
			if c.Shared = serves(session.Argv(p.PID)); !c.Shared {
				c.PID = p.PID
			}
			break
		}
	}
	return c
}

// Programs are the names of the client's processes: the one below node that does everything, and what
// it is called in a release, as far as the system keeps it.
var Programs = []string{"codex", "codex-x86_64-un", "codex-aarch64-u"}

// serves reports whether a command line of the client is that of a server: the daemon that the TUI
// starts by default, which goes on without it, or the one that an editor starts.
func serves(args []string) bool {
	for i := 1; i < len(args); i++ {
		switch arg := args[i]; {
		case slices.Contains([]string{"-c", "--config", "--enable", "--disable"}, arg):
			i++ // its value
		case !strings.HasPrefix(arg, "-"):
			return arg == "app-server"
		}
	}
	return false
}

// Variables are what the client sets for what its agent runs.
var Variables = []string{"CODEX_THREAD_ID", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED"}

// Running lists the threads that live in clients of this configuration. Who holds a lock is not told:
// the daemon holds those of many.
func Running(config string) ([]session.Registration, error) {
	entries, err := os.ReadDir(filepath.Join(config, locks))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read what threads are locked: %w", err)
	}
	var all []session.Registration
	for _, e := range entries {
		thread, ok := strings.CutSuffix(e.Name(), ".lock")
		if !ok || !hooks.ValidID(thread) { // .coordination.lock
			continue
		}
		held, err := lock.Held(filepath.Join(config, locks, e.Name()))
		if errors.Is(err, errors.ErrUnsupported) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if held {
			all = append(all, session.Registration{Session: thread, Held: true})
		}
	}
	return all, nil
}
