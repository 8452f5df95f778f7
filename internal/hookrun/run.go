// Package hookrun runs a hook: a process of ours that an agent's client starts at an event of a session.
//
// A hook never fails and never speaks to the model, unless that is its purpose. An error goes to the log of the
// repository and, once in a session, to the user. A repository in which nothing is to be recorded
// costs a few system calls.
package hookrun

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"time"

	"gitagent/hooks"
	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/session"
)

// A Hook is one payload and where it belongs.
type Hook struct {
	At     time.Time // when the process began
	Agent  hooks.Agent
	Client hooks.Client
	Event  *hooks.Event
	Repo   *git.Repo
	Store  session.Store

	program string // says that something failed
	lost    string // what is lost then, for the user
	known   bool   // the repository is known and enabled: Store is where errors go
}

// IsHook reports whether a program's arguments, its name left out, run its hook, and returns the hook's own.
// A hook has its own rules: whatever its arguments and whatever breaks, it exits with 0, so no other
// parser may see them. Where it works is in its payload: -C does not matter.
func IsHook(args []string) ([]string, bool) {
	for len(args) > 2 && args[0] == "-C" {
		args = args[2:]
	}
	if len(args) == 0 || args[0] != "hook" {
		return nil, false
	}
	return args[1:], true
}

// Run reads the payload on standard input and hands it to take, if something is to be done where the agent works.
// An error of take, or a panic, is logged; program and lost are for the message to the user: what was lost with it.
func Run(program, lost string, args []string, take func(context.Context, *Hook) error) {
	// The client ends a headless StopFailure hook 20 ms after its start.
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
	debug.SetGCPercent(400) // the process lives for some milliseconds
	h := &Hook{At: time.Now(), Agent: hooks.Claude, program: program, lost: lost}
	defer func() {
		if p := recover(); p != nil {
			h.fail(fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
	}()
	if os.Getenv("GIT_AGENT_DISABLE") == "1" {
		return
	}
	if err := h.run(context.Background(), args, take); err != nil {
		h.fail(err)
	}
}

func (h *Hook) run(ctx context.Context, args []string, take func(context.Context, *Hook) error) error {
	for i, a := range args {
		if a == "--agent" && i+1 < len(args) {
			named, err := hooks.ParseAgent(args[i+1])
			if err != nil {
				return err
			}
			h.Agent = named
		}
	}
	h.Client = hooks.ReadClient(os.Getenv)
	event, err := hooks.Parse(os.Stdin)
	if err != nil {
		// The payload can't say where it belongs, but the client runs hooks where the agent is.
		if wd, e := os.Getwd(); e == nil {
			h.find(ctx, wd)
		}
		return err
	}
	h.Event = event
	if h.find(ctx, event.Cwd); !h.known {
		return nil
	}
	return take(ctx, h)
}

// Settings are the user's and the repository's. What is wrong in them is logged, and what is valid counts.
func (h *Hook) Settings() *config.Config {
	settings, err := config.Load(config.UserPath(), filepath.Join(h.Repo.Top, config.RepoFile))
	if err != nil {
		h.Log(err.Error())
	}
	return settings
}

// Log writes to the repository's log, with the time of the event.
func (h *Hook) Log(text string) { h.Store.Log(h.At, text) }

// fail logs an error and tells the user, once in a session.
func (h *Hook) fail(err error) {
	if !h.known {
		return
	}
	h.Log(err.Error())
	if h.Event == nil || errors.Is(err, context.Canceled) || !h.Store.Tell(h.Event.SessionID) {
		return
	}
	text := fmt.Sprintf("%s: %s: %v (git agent-turn doctor tells more)", h.program, h.lost, err)
	_ = (hooks.Answer{User: text}).Write(os.Stdout) // a client that has gone away needs no message
}
