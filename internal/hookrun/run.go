// Package hookrun runs a hook: a process of ours that an agent's client starts at an event of a
// session.
//
// A hook never fails and never speaks to the model, unless that is its purpose. An error goes to
// the log of the repository and, once in a session, to the user. A repository in which nothing is
// to be recorded costs a few system calls.
package hookrun

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"gitagent/hooks"
	"gitagent/internal/agent"
	"gitagent/internal/bisect"
	"gitagent/internal/cmdline"
	"gitagent/internal/git"
	"gitagent/internal/limit"
	"gitagent/internal/session"
	"gitagent/internal/terminal"
	"gitagent/internal/workspace"
)

// A Hook is one payload and the repository that it belongs to.
type Hook struct {
	At     time.Time // when the process began
	Agent  agent.Agent
	Client hooks.Client
	Event  *hooks.Event
	Digest string // of the payload: the same one may arrive twice
	Repo   *git.Repo
	Store  session.Store

	workspace *workspace.Workspace // see Workspace

	program string // named in messages about a failure
	answer  hooks.Answer
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
func Run(ctx context.Context, program, lost string, args []string, take func(context.Context, *Hook) error) {
	// The client ends a headless StopFailure hook 20 ms after its start.
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
	debug.SetGCPercent(400) // the process lives for some milliseconds
	h := &Hook{At: time.Now(), Agent: agent.Default(), program: program, lost: lost}
	defer func() {
		if p := recover(); p != nil {
			h.fail(fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
		if err := h.answer.Write(os.Stdout); err != nil {
			h.LogError(err)
		}
	}()
	if err := h.run(ctx, args, take); err != nil {
		h.fail(err)
	}
}

func (h *Hook) run(ctx context.Context, args []string, take func(context.Context, *Hook) error) error {
	named, unknown := named(args)
	if unknown == nil {
		h.Agent = named
	}
	h.Client = h.Agent.Client(os.Getenv)
	if !h.Client.Shared && os.Getenv("GIT_AGENT_DISABLE") == "1" {
		return nil
	}
	var payload bytes.Buffer
	event, err := h.Agent.Event(io.TeeReader(os.Stdin, &payload))
	h.Digest = fmt.Sprintf("%08x", crc32.Checksum(payload.Bytes(), crc32.MakeTable(crc32.Castagnoli)))
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
	if unknown != nil {
		return unknown
	}
	if viaPlugin(args) && event.Name == "SessionEnd" {
		err := terminal.OutliveOwn(limit.Of(ctx).End, h.Repo.Top, payload.Bytes(), h.program, append([]string{"hook"}, withoutVia(args)...)...)
		if err == nil {
			return nil
		}
		h.LogError(err) // and do it here, for as long as the client lets us
	}
	return take(ctx, h)
}

// What a plugin's hook is called with, besides the arguments of the same hook in settings.
const via, plugin = "--via", "plugin"

// viaPlugin reports whether a hook's arguments say that it is a plugin's.
func viaPlugin(args []string) bool {
	i := slices.Index(args, via)
	return i >= 0 && i+1 < len(args) && args[i+1] == plugin
}

// withoutVia are the arguments of a plugin's hook as the hook in settings has them.
func withoutVia(args []string) []string {
	i := slices.Index(args, via)
	return slices.Delete(slices.Clone(args), i, i+2)
}

// named is the agent that a hook's arguments name with --agent, the default one if they name none.
func named(args []string) (agent.Agent, error) {
	if i := slices.Index(args, "--agent"); i >= 0 && i+1 < len(args) {
		a, ok := agent.Find(args[i+1])
		if !ok {
			return nil, fmt.Errorf("unknown agent %q", args[i+1])
		}
		return a, nil
	}
	return agent.Default(), nil
}

// Asked is the mission that the client's environment asks for, if that environment is the session's own.
func (h *Hook) Asked() string {
	if h.Client.Shared {
		return ""
	}
	return os.Getenv("GIT_AGENT_MISSION")
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

// Log writes to the repository's log, with the time of the event. If that fails, the user is told
// instead, once in a session.
func (h *Hook) Log(text string) {
	if err := h.Store.Log(h.At, text); err != nil && !h.Store.WasTold(h.session(), h.program) {
		h.Tell("log", fmt.Sprintf("%s: %v", text, err))
	}
}

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
	_ = h.Store.Log(h.At, err.Error())     // the user hears more than that there is no log
	if !errors.Is(err, context.Canceled) { // a client that has gone away needs no message
		h.Tell(h.program, fmt.Sprintf("%s: %v", h.lost, err))
	}
}

// Tell tells the user of something, once in a session for each kind of thing.
func (h *Hook) Tell(kind, text string) {
	if h.Store.Tell(h.session(), kind, text) {
		h.Answer(hooks.Answer{User: fmt.Sprintf("%s: %s (git agent-turn doctor tells more)", h.program, cmdline.Message(text))})
	}
}

// session is the id of the event's session; "" if the payload can't be read.
func (h *Hook) session() string {
	if h.Event == nil {
		return ""
	}
	return h.Event.SessionID
}

// Answer adds to what is printed when the hook ends.
func (h *Hook) Answer(a hooks.Answer) {
	h.answer.Event = cmp.Or(a.Event, h.answer.Event)
	h.answer.Model = strings.TrimPrefix(h.answer.Model+"\n"+a.Model, "\n")
	h.answer.User = strings.Trim(h.answer.User+"\n"+a.User, "\n")
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
	if bisect.Throwaway(repo.GitDir) {
		return // an agent that a test runs works on no mission
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
