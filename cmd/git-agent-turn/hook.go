package main

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

	"github.com/urfave/cli/v2"

	"gitagent/hooks"
	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/session"
	"gitagent/turns"
)

func hookCommand() *cli.Command {
	return &cli.Command{
		Name:      "hook",
		Usage:     "take a hook's payload on standard input; for the agent's client",
		UsageText: "git agent-turn hook [--agent <name>]",
		Flags:     []cli.Flag{agentFlag()},
		Action: func(*cli.Context) error { // reached only with flags that no client gives; see main
			hook(nil)
			return nil
		},
	}
}

// flushWait is how long the end of a turn waits for the client's transcript, which is
// written up to 100 ms late.
const flushWait = 2 * time.Second

// hook takes one payload. It never fails and never speaks to the model: an error goes to the
// log of the repository and, once in a session, to the user.
func hook(args []string) {
	// The client ends a headless StopFailure hook 20 ms after its start.
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
	debug.SetGCPercent(400) // the process lives for some milliseconds
	h := &hookRun{at: time.Now()}
	defer func() {
		if p := recover(); p != nil {
			h.fail(fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
	}()
	if os.Getenv("GIT_AGENT_DISABLE") == "1" {
		return
	}
	if err := h.run(context.Background(), args); err != nil {
		h.fail(err)
	}
}

// A hookRun is one hook's process.
type hookRun struct {
	at    time.Time
	event *hooks.Event
	store session.Store
	known bool // the repository is known and enabled: store is where errors go
}

func (h *hookRun) run(ctx context.Context, args []string) error {
	agent := hooks.Claude
	for i, a := range args {
		if a == "--agent" && i+1 < len(args) {
			named, err := hooks.ParseAgent(args[i+1])
			if err != nil {
				return err
			}
			agent = named
		}
	}
	client := hooks.ReadClient(os.Getenv)
	event, err := hooks.Parse(os.Stdin)
	if err != nil {
		// The payload can't say where it belongs, but the client runs hooks where the agent is.
		if wd, e := os.Getwd(); e == nil {
			_, _ = h.enabled(ctx, wd, client.ProjectDir)
		}
		return err
	}
	h.event = event
	signalled, ok := signalOf(event)
	if !ok {
		return nil
	}
	repo, err := h.enabled(ctx, event.Cwd, client.ProjectDir)
	if err != nil || repo == nil {
		return err
	}
	settings, err := config.Load(config.UserPath(), filepath.Join(repo.Top, ".git-agent.toml"))
	if err != nil {
		h.store.Log(h.at, err.Error()) // what is valid counts
	}
	signalled.At = h.at
	signalled.Agent = string(agent)
	signalled.Asked = os.Getenv("GIT_AGENT_MISSION")
	signalled.Client = session.ReadClient(client.PID)
	recorder := &turns.Recorder{Repo: repo, Capture: settings.Capture, FlushWait: flushWait}
	result, err := recorder.Record(ctx, signalled)
	if err != nil {
		return err
	}
	for _, w := range result.Warnings {
		h.store.Log(h.at, w)
	}
	return housekeep(repo)
}

// signalOf says a payload in the words of package turns. ok is false for events that are not ours.
func signalOf(e *hooks.Event) (s turns.Signal, ok bool) {
	s = turns.Signal{
		Session: e.SessionID, PromptID: e.PromptID, Prompt: e.Prompt, Reply: e.LastAssistantMessage,
		Again: e.StopHookActive, Transcript: e.TranscriptPath,
	}
	switch e.Name {
	case "UserPromptSubmit":
		s.Event = turns.Prompted
	case "Stop":
		s.Event = turns.Stopped
	case "StopFailure":
		s.Event = turns.Erred
	case "SessionEnd":
		s.Event = turns.Ended
	}
	return s, s.Event != "" && e.AgentID == ""
}

// enabled returns the repository that the agent works in, nil if nothing is to be recorded there:
// the one of its directory if that is a worktree of the repository that the client was
// launched in, otherwise the latter. It costs one git process where recording is not
// enabled for the repository itself, and none where there is no repository.
func (h *hookRun) enabled(ctx context.Context, cwd, project string) (*git.Repo, error) {
	repo, err := findRepo(cwd, project)
	if err != nil {
		return nil, nil // not in a repository
	}
	if home, err := os.UserHomeDir(); repo.Top == filepath.Dir(repo.Top) || err == nil && sameDir(repo.Top, home) {
		return nil, nil // nobody's project is the whole disk or the whole home
	}
	h.store = session.Open(repo.CommonDir)
	if !h.store.Enabled() {
		conf, err := repo.Config(ctx)
		if err != nil || !conf.Bool("agent.record") {
			return nil, nil // not enabled, and if git refuses the repository nobody has asked for it
		}
	}
	h.known = true
	return repo, nil
}

func findRepo(cwd, project string) (*git.Repo, error) {
	if project == "" {
		return git.Find(cwd)
	}
	launched, err := git.Find(project)
	if err != nil {
		return nil, err
	}
	if here, err := git.Find(cwd); err == nil && here.CommonDir == launched.CommonDir {
		return here, nil
	}
	return launched, nil
}

func sameDir(a, b string) bool {
	ai, aerr := os.Stat(a)
	bi, berr := os.Stat(b)
	return aerr == nil && berr == nil && os.SameFile(ai, bi)
}

// fail logs an error and tells the user, once in a session.
func (h *hookRun) fail(err error) {
	if !h.known {
		return
	}
	h.store.Log(h.at, err.Error())
	if h.event == nil || errors.Is(err, context.Canceled) {
		return
	}
	if !h.store.Tell(h.event.SessionID) {
		return
	}
	text := fmt.Sprintf("git-agent-turn: a turn was not recorded: %v (git agent-turn doctor tells more)", err)
	_ = hooks.SystemMessage(os.Stdout, text) // a client that has gone away needs no message
}
