// Package hookrun runs a hook: a process of ours that an agent's client starts at an event of a
// session.
//
// A hook never fails and never speaks to the model, unless that is its purpose. An error goes to
// the log of the repository and, once in a session, to the user. A repository in which nothing is
// to be recorded costs a few system calls.
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
	"gitagent/internal/git"
	"gitagent/internal/session"
	"gitagent/internal/workspace"
)

// A Hook is one payload and the repository that it belongs to.
type Hook struct {
	At     time.Time // when the process began
	Agent  hooks.Agent
	Client hooks.Client
	Event  *hooks.Event
	Repo   *git.Repo
	Store  session.Store

	workspace *workspace.Workspace // see Workspace

	program string // named in messages about a failure
	lost    string // what is lost then, for the user
	known   bool   // recording is enabled in the repository: errors go to Store
}

// IsHook reports whether a program's arguments, without its name, run its hook, and returns the
// hook's arguments. No other parser may see these, since a hook exits with 0 whatever they are and
// whatever breaks. -C does not matter: the payload says where the hook works.
func IsHook(args []string) ([]string, bool) {
	for len(args) > 2 && args[0] == "-C" {
		args = args[2:]
	}
	if len(args) == 0 || args[0] != "hook" {
		return nil, false
	}
	return args[1:], true
}

// Run reads the payload from standard input and hands it to take, if recording is enabled where the
// agent works. An error or panic of take is logged; program and lost, which says what was lost, are
// for the message to the user.
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
		// The payload can't say where it belongs, but the client runs hooks in the agent's directory.
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

// Workspace is the repository with the settings in effect there. Invalid ones are logged, valid
// ones count.
func (h *Hook) Workspace() *workspace.Workspace {
	if h.workspace == nil {
		var err error
		h.workspace, err = workspace.Open(h.Repo)
		h.LogError(err)
	}
	return h.workspace
}

// Log writes to the repository's log, with the time of the event.
func (h *Hook) Log(text string) { h.Store.Log(h.At, text) }

// LogError is [Hook.Log] for an error that is not the hook's own; nil is none.
func (h *Hook) LogError(err error) {
	if err != nil {
		h.Log(err.Error())
	}
}

// fail logs an error and tells the user, once in a session.
func (h *Hook) fail(err error) {
	if !h.known {
		return
	}
	h.Log(err.Error())
	if h.Event != nil && !errors.Is(err, context.Canceled) {
		_ = h.Tell(fmt.Sprintf("%s: %v", h.lost, err)) // a client that has gone away needs no message
	}
}

// Tell tells the user, once in a session, of something in the log that keeps nothing from being
// recorded.
func (h *Hook) Tell(text string) error {
	if !h.Store.Tell(context.Background(), h.Event.SessionID) {
		return nil
	}
	text = fmt.Sprintf("%s: %s (git agent-turn doctor tells more)", h.program, text)
	return hooks.Answer{User: text}.Write(os.Stdout)
}

// find finds the repository in which the agent works: that of its directory if that is a worktree
// of the repository in which the client was launched, otherwise the latter. It sets known if
// recording is enabled there. That costs one git process where recording is not enabled for the
// repository itself, one where it belongs to somebody else, and none where there is no repository.
func (h *Hook) find(ctx context.Context, cwd string) {
	repo, err := launched(ctx, cwd, h.Client.ProjectDir)
	if err != nil {
		return // not in a repository, or in one that git refuses: nobody asked for it
	}
	if home, err := os.UserHomeDir(); repo.Top == filepath.Dir(repo.Top) || err == nil && sameDir(repo.Top, home) {
		return // the whole disk or home directory is nobody's project
	}
	w := workspace.New(repo, nil)
	h.Repo, h.Store = repo, w.Store
	h.known, _ = w.Enabled(ctx)
}

func launched(ctx context.Context, cwd, project string) (*git.Repo, error) {
	if project == "" {
		return trusted(ctx, cwd)
	}
	repo, err := trusted(ctx, project)
	if err != nil || cwd == project {
		return repo, err
	}
	if here, err := trusted(ctx, cwd); err == nil && here.CommonDir == repo.CommonDir {
		return here, nil
	}
	return repo, nil
}

// trusted finds the repository of dir. Before git trusts it, nothing in it is believed, and nothing
// is written: anybody can put a .git above a directory in which others work.
func trusted(ctx context.Context, dir string) (*git.Repo, error) {
	repo, err := git.Find(dir)
	if err == nil {
		err = repo.Trusted(ctx)
	}
	return repo, err
}

func sameDir(a, b string) bool {
	ai, aerr := os.Stat(a)
	bi, berr := os.Stat(b)
	return aerr == nil && berr == nil && os.SameFile(ai, bi)
}
