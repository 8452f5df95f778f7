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
	"gitagent/internal/session"
	"gitagent/internal/statedir"
)

// locks is the directory in the client's configuration with a locked file for
// each thread, from when it can be prompted until its SessionEnd hooks have
// run. The client then removes the file; those of a killed client go with the
// next one. Seen with 0.169.0.
const locks = "thread-writer-locks"

// Event decodes a payload. It finds the client's configuration, with the
// thread's lock, above the rollout: the environment may be of another terminal.
func Event(r io.Reader) (*hooks.Payload, error) {
	e, err := hooks.Parse(r)
	if err == nil {
		e.Lock = lockOf(e.TranscriptPath, e.SessionID)
		unpack(e)
	}
	return e, err
}

// lockOf returns the lock of a thread with a rollout below <config>/sessions.
func lockOf(path, thread string) string {
	day := filepath.Dir(path)
	top := filepath.Dir(filepath.Dir(filepath.Dir(day)))
	if !strings.HasPrefix(filepath.Base(path), "rollout-") || filepath.Base(top) != "sessions" {
		return ""
	}
	return filepath.Join(filepath.Dir(top), locks, thread+".lock")
}

// Client finds the client among our ancestors. A subagent's command has the
// session of the parent, as hooks have.
func Client(getenv func(string) string) hooks.Environment {
	c := hooks.Environment{SessionID: cmp.Or(getenv("CODEX_SESSION_ID"), getenv("CODEX_THREAD_ID"))}
	if !hooks.ValidID(c.SessionID) {
		c.SessionID = ""
	}
	p := session.Nearest(func(p session.Process) bool { return slices.Contains(Programs, p.Name) })
	if c.Shared = serves(session.Argv(p.PID)); !c.Shared {
		c.PID = p.PID
	}
	return c
}

// Programs are the client's processes: the one below node that does everything,
// and its name in a release, as the system cuts it.
var Programs = []string{"codex", "codex-x86_64-un", "codex-aarch64-u"}

// serves reports whether a command line is a server's: the daemon that the TUI
// starts by default and that outlives it, or the one of an editor.
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

// Variables are set for the agent's commands.
var Variables = []string{"CODEX_THREAD_ID", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED"}

// Running lists the threads that live in clients of this configuration. It
// can't tell which process has a lock: the daemon has many.
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
		held, err := statedir.Locked(filepath.Join(config, locks, e.Name()))
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
