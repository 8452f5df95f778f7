package hook

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

	"github.com/urfave/cli/v2"

	"gitagent/hooks"
	"gitagent/internal/agent"
	"gitagent/internal/bisect"
	"gitagent/internal/cmdline"
	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/limit"
	"gitagent/internal/places"
	"gitagent/internal/purge"
	"gitagent/internal/recorder"
	"gitagent/internal/recording"
	"gitagent/internal/session"
	"gitagent/internal/terminal"
	"gitagent/internal/workspace"
)

// A Program is one of our programs that have a hook.
type Program struct {
	name   string
	lost   string // what the user loses if its hook fails
	events map[string]handler
}

// A handler does what a hook does at one event.
type handler func(context.Context, *hook) error

const lostTurn = "a turn was not recorded"

// Turn is git-agent-turn, which records what happens in a session.
var Turn = &Program{"git-agent-turn", lostTurn, map[string]handler{
	"UserPromptSubmit": prompt,
	"Stop":             stopped(recorder.Stopped),
	"StopFailure":      stopped(recorder.Erred),
	"Interrupt":        stopped(recorder.Halted),
	"SessionEnd":       end,
}}

// Handoff is git-agent-handoff, which tells a session what others have left.
var Handoff = &Program{"git-agent-handoff", "what the last session left could not be told", map[string]handler{
	"SessionStart":  begin,
	"PreToolUse":    before,
	"PostToolBatch": watch,
	"PostToolUse":   watch,
	"SubagentStop":  sideStopped,
	"PreCompact":    compact,
}}

// A hook is the process of one event: payload, repository and answer.
type hook struct {
	program  *Program
	at       time.Time // when the process started
	agent    *agent.Agent
	client   hooks.Environment
	event    *hooks.Payload
	digest   string // of the payload, which may arrive twice
	repo     *git.Repo
	store    session.Store
	borrowed bool           // the client runs a hook that was installed for the default agent
	known    bool           // recording is enabled, and errors go to store
	settings *config.Config // nil before the repository was opened with them
	answer   hooks.Answer
	off      bool  // nothing is to be recorded of the turn: somebody has said so where the session stands
	outside  bool  // the session has no home, and store is the user's
	since    int64 // ms: when the agent's tools before had run; 0 if unknown
}

// Command describes a program's hook for its help; agent is the flag for one.
// Clients get here only with flags that none gives: see [IsHook].
func Command(p *Program, agent cli.Flag) *cli.Command {
	return &cli.Command{
		Name:      "hook",
		Usage:     "take a hook's payload on standard input; for the agent's client",
		UsageText: "git " + strings.TrimPrefix(p.name, "git-") + " hook [--agent <name>] [--via plugin]",
		Flags: []cli.Flag{agent, cmdline.OneOf(
			&cli.StringFlag{Name: via, Usage: "it is the hook of a `<plugin>`, which the client ends early"}, plugin,
		)},
		Action: func(c *cli.Context) error {
			Run(context.WithoutCancel(c.Context), p, nil)
			return nil
		},
	}
}

// IsHook reports whether a program's arguments, without its name, run its hook,
// and returns the hook's arguments. No other parser may see them, since a hook
// always exits with 0. -C is ignored: the payload says where the hook works.
func IsHook(args []string) ([]string, bool) {
	for len(args) > 2 && args[0] == "-C" {
		args = args[2:]
	}
	if len(args) == 0 || args[0] != "hook" {
		return nil, false
	}
	return args[1:], true
}

// Run reads a payload from standard input, handles its event if recording is
// enabled where the agent works, and prints the answer. It logs an error or
// panic, and tells the user what was lost.
func Run(ctx context.Context, p *Program, args []string) {
	// The client ends a headless StopFailure hook 20 ms after its start.
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
	debug.SetGCPercent(400) // the process is short-lived
	h := &hook{program: p, at: time.Now(), agent: agent.Default()}
	defer func() {
		if p := recover(); p != nil {
			h.fail(fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
		h.carry()
		h.answer.Flat = h.agent.Flat
		if err := h.answer.Write(os.Stdout); err != nil {
			h.logError(err)
		}
	}()
	if err := h.run(ctx, args); err != nil {
		h.fail(err)
	}
}

func (h *hook) run(ctx context.Context, args []string) error {
	named, unknown := named(args)
	switch {
	case unknown != nil:
	case named != nil:
		h.agent = named
	default:
		if a, ok := agent.Borrower(os.Getenv); ok {
			h.agent, h.borrowed = a, true
		}
	}
	h.client = h.agent.Client(os.Getenv)
	if !h.client.Shared && os.Getenv("GIT_AGENT_DISABLE") == "1" {
		return nil
	}
	var payload bytes.Buffer
	event, err := h.agent.Event(io.TeeReader(os.Stdin, &payload))
	h.digest = fmt.Sprintf("%08x", crc32.Checksum(payload.Bytes(), crc32.MakeTable(crc32.Castagnoli)))
	if err != nil {
		// The payload can't say where it belongs, but the client runs hooks in
		// the agent's directory.
		if wd, e := os.Getwd(); e == nil {
			h.find(ctx, wd)
		}
		return err
	}
	event.Tell(h.agent.Effects)
	if event.TranscriptPath == "" && h.agent.Path != nil {
		event.TranscriptPath = h.agent.Path(h.agent.ConfigDir(os.Getenv), event.SessionID)
	}
	h.event = event
	h.find(ctx, event.Cwd)
	h.settle(ctx)
	if h.withheld() {
		return nil
	}
	if !h.known && !h.outside || h.borrowed && h.installed() {
		return nil
	}
	if h.outside {
		if unknown != nil {
			return nil
		}
		return abroad(ctx, h)
	}
	if unknown != nil {
		return unknown
	}
	if viaPlugin(args) && event.Name == "SessionEnd" {
		err := terminal.OutliveOwn(limit.Of(ctx).End, h.repo.Top, payload.Bytes(), h.program.name, append([]string{"hook"}, withoutVia(args)...)...)
		if err == nil {
			return nil
		}
		h.logError(err) // do it here, as long as the client allows
	}
	handle := h.program.events[event.Name]
	tools := event.Name == "PreToolUse" || event.Name == "PostToolBatch" || event.Name == "PostToolUse" || event.Name == "SubagentStop"
	if handle == nil || event.AgentID != "" && !tools { // a subagent's other events say nothing about the session
		return nil
	}
	if event.Name != "PreToolUse" { // which records nothing that a filter rewrites, and answers nothing
		h.followFilter(ctx)
	}
	if !tools {
		defer h.checkRules()
	}
	return handle(ctx, h)
}

// followFilter follows a filter of the user's before anything is recorded, and
// says what became of their missions.
func (h *hook) followFilter(ctx context.Context) {
	w := workspace.New(h.repo, nil)
	if !purge.FilterPending(w) {
		return
	}
	done, err := purge.FollowFilter(ctx, h.open())
	h.logError(err)
	if lines := slices.Concat(done.Mended(), done.Missing()); len(lines) > 0 {
		h.log(strings.Join(lines, "; "))
		h.tell("filter", strings.Join(lines, "; "))
	}
}

// The additional argument of a plugin's hook.
const via, plugin = "via", "plugin"

func viaPlugin(args []string) bool {
	i := slices.Index(args, "--"+via)
	return i >= 0 && i+1 < len(args) && args[i+1] == plugin
}

// withoutVia returns a plugin hook's arguments as those of a hook in settings.
func withoutVia(args []string) []string {
	i := slices.Index(args, "--"+via)
	return slices.Delete(slices.Clone(args), i, i+2)
}

// installed reports whether hooks of ours are installed for the client itself.
// Then a borrowed one would say everything twice.
func (h *hook) installed() bool {
	places := hooks.Places{Config: h.agent.ConfigDir(os.Getenv), Project: h.client.ProjectDir}
	return len(h.agent.Inspect(places).Installed) > 0
}

// named returns the agent of the --agent argument, which may be any name, or nil
// if there is none.
func named(args []string) (*agent.Agent, error) {
	if i := slices.Index(args, "--agent"); i >= 0 && i+1 < len(args) {
		if a, ok := agent.Find(args[i+1]); ok {
			return a, nil
		}
		if !hooks.ValidID(args[i+1]) {
			return nil, fmt.Errorf("--agent %q is not a name: up to 128 letters, digits, - and _", args[i+1])
		}
		return agent.Other(args[i+1]), nil
	}
	return nil, nil
}

// asked returns the mission that the client's environment asks for, if that
// environment is the session's own.
func (h *hook) asked() string {
	if h.client.Shared {
		return ""
	}
	return os.Getenv("GIT_AGENT_MISSION")
}

// open opens the repository with its settings. Invalid ones are only logged.
func (h *hook) open() *workspace.Workspace {
	w, err := workspace.Open(h.repo)
	h.logError(err)
	w.Say = func(text, done string) {
		h.log(workspace.Said(text, done))
		h.tell("moved", workspace.Said(text, done))
	}
	h.settings = w.Settings
	return w
}

// checkRules tells the user if no text is recorded since their rules of
// redaction are not valid.
func (h *hook) checkRules() {
	if err := h.settings.CheckRules(); err != nil {
		h.tell("redact", fmt.Sprintf("no text of this session is recorded until this is mended: %v", err))
	}
}

// log writes to the repository's log, with the time of the event. If that
// fails, it tells the user instead, once in a session.
func (h *hook) log(text string) {
	if err := h.store.Log(h.at, text); err != nil && !h.store.WasTold(h.session(), h.program.name) {
		h.tell("log", fmt.Sprintf("%s: %v", text, err))
	}
}

func (h *hook) logError(err error) {
	if err != nil {
		h.log(err.Error())
	}
}

func (h *hook) fail(err error) { h.lose(h.program.lost, err) }

// lose logs an error, and tells the user what is lost by it: once in a session,
// whatever it is.
func (h *hook) lose(what string, err error) {
	if !h.known && !h.outside {
		return
	}
	_ = h.store.Log(h.at, err.Error())     // the user is told anyway
	if !errors.Is(err, context.Canceled) { // the client has gone away
		h.tell(h.program.name, fmt.Sprintf("%s: %v", what, err))
	}
}

// tell tells the user of something, once in a session for each kind.
func (h *hook) tell(kind, text string) { h.offer(kind, text, "") }

// offer is tell with a command, which comes last.
func (h *hook) offer(kind, text, command string) {
	said := strings.TrimSuffix(text+": "+command, ": ")
	if h.store.Tell(h.session(), kind, said) {
		end := ""
		if command != "" {
			end = ": " + command
		}
		h.add(hooks.Answer{User: fmt.Sprintf("%s: %s (git agent-turn doctor tells more)%s", h.program.name, cmdline.Message(text), end)})
	}
}

// carry keeps what the client would ignore until the session's next prompt, and
// adds it to what is told there.
func (h *hook) carry() {
	switch {
	case h.event == nil || h.event.AgentID != "":
	case h.event.Name == h.agent.Ignored && h.answer.User != "":
		h.logError(h.store.Owe(h.session(), h.answer.User))
		h.answer.User = ""
	case h.event.Name == "UserPromptSubmit" && (h.known || h.outside):
		h.add(hooks.Answer{User: h.store.Owed(h.session())})
	}
}

// session returns the event's session, or "" if the payload is unreadable.
func (h *hook) session() string {
	if h.event == nil {
		return ""
	}
	return h.event.SessionID
}

func (h *hook) add(a hooks.Answer) {
	h.answer.Event = cmp.Or(a.Event, h.answer.Event)
	h.answer.Model = strings.TrimPrefix(h.answer.Model+"\n"+a.Model, "\n")
	h.answer.User = strings.Trim(h.answer.User+"\n"+a.User, "\n")
}

// find finds the repository in which the agent works: its directory's if that
// is a worktree of the client's repository, or else the client's. It sets known
// if recording is enabled there. It runs one git process if recording is not
// enabled for the repository itself, one if it belongs to another user, and
// none without a repository.
func (h *hook) find(ctx context.Context, cwd string) {
	repo, err := Place(ctx, cwd, h.client.ProjectDir)
	if err != nil {
		return
	}
	w := workspace.New(repo, nil)
	h.repo, h.store = repo, w.Store
	v, _ := w.Recording(ctx, cwd, h.client.ProjectDir)
	h.known, h.off = v.On, v.Withholds()
	if v.Reason == recording.Unread {
		h.tell("record", "nothing is recorded here until this is mended: "+v.Text)
	}
}

// withheld notes what is never to be recorded, and reports whether the event is of
// a turn that began so while recording is on by now.
func (h *hook) withheld() bool {
	if h.session() == "" || !h.off && !h.known && !(h.outside && h.program == Turn) {
		return false
	}
	noted, begins := places.Of(os.Getenv), h.event.Name == "UserPromptSubmit" && h.event.AgentID == ""
	open, off := noted.Withheld(h.session()).Open(), h.off
	h.off = off || open
	switch {
	case !h.off, h.program == Handoff && open && h.event.Name == "SessionStart":
		return false
	case !off && begins:
		h.logError(noted.Resume(h.session(), h.at))
		return false
	case !open || h.program == Turn:
		err := error(nil)
		if !open && !begins {
			if seen := session.Open(h.repo.CommonDir).Load(h.session()).Seen; !seen.IsZero() {
				err = noted.Withhold(h.session(), "", seen, false) // it may be off since then
			}
		}
		if err = cmp.Or(err, noted.Withhold(h.session(), h.event.PromptID, h.at, begins)); err != nil {
			h.tell("withhold", "what is said here now may be recorded later: "+err.Error())
		}
	}
	return h.known && h.event.Name != "SessionEnd"
}

// ErrNoProject reports a repository in which hooks record nothing.
var ErrNoProject = errors.New("is no project")

// Place returns the repository that hooks record in if recording is enabled
// there, for an agent that works in the directory cwd. project is where its
// client was started, or "". An error is why there is none: none was found, git
// refuses it, or it wraps [ErrNoProject].
func Place(ctx context.Context, cwd, project string) (*git.Repo, error) {
	repo, err := launched(ctx, cwd, project)
	if err != nil {
		return nil, err
	}
	if repo.Top == filepath.Dir(repo.Top) {
		return nil, fmt.Errorf("the whole disk %w", ErrNoProject)
	}
	if home, err := os.UserHomeDir(); err == nil && git.SameFile(repo.Top, home) {
		return nil, fmt.Errorf("the home directory %w", ErrNoProject)
	}
	if bisect.Throwaway(repo.GitDir) { // a test's agent works on no mission
		return nil, fmt.Errorf("a worktree in which states are tried %w", ErrNoProject)
	}
	return repo, nil
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

// trusted finds the repository of dir, if git trusts it. Otherwise it must not
// be read or written: anyone can put a .git above a shared directory.
func trusted(ctx context.Context, dir string) (*git.Repo, error) {
	repo, err := git.Find(dir)
	if err == nil {
		err = repo.Trusted(ctx)
	}
	return repo, err
}
