package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"gitagent/internal/agent"
	"gitagent/internal/cmdline"
	"gitagent/internal/terminal"
	"gitagent/turns"
)

// maxTimes bounds the forks made at once: each is a worktree and an agent.
const maxTimes = 32

// An outset is what a fork starts with.
type outset struct {
	prompt string       // "" for the turn's, if any
	agent  *agent.Agent // nil for the turn's
}

func (o outset) of(t *turns.Turn) *agent.Agent {
	if o.agent == nil {
		return agent.Of(t.Agent)
	}
	return o.agent
}

// outsets returns what each fork of the command line starts with.
func outsets(c *cli.Context) ([]outset, error) {
	times := 0
	if c.IsSet("times") {
		if times = c.Int("times"); times < 1 {
			return nil, cmdline.Usagef("--times: at least one fork is made, not %d", times)
		}
	}
	begins, err := share(c.StringSlice("prompt"), c.StringSlice("agent"), times)
	if n := len(begins); n > 1 && c.IsSet("worktree") {
		return nil, cmdline.Hint(cmdline.Usagef("--worktree is for one fork, not for %d", n),
			"leave it out: each gets a directory of its own, beside the repository")
	}
	return begins, err
}

// share gives times forks prompts and agents; 0 is one for each of the most.
func share(prompts, agents []string, times int) ([]outset, error) {
	if times == 0 {
		times = max(1, len(prompts), len(agents))
	}
	if times > maxTimes {
		return nil, cmdline.Usagef("at most %d forks are made at once, not %d", maxTimes, times)
	}
	if slices.ContainsFunc(prompts, func(p string) bool { return strings.TrimSpace(p) == "" }) {
		return nil, cmdline.Usagef("--prompt: it is empty")
	}
	begins := make([]outset, times)
	for _, given := range []struct {
		what string
		list []string
	}{{"prompt", prompts}, {"agent", agents}} {
		if n := len(given.list); n > 1 && n != times {
			return nil, cmdline.Usagef("there are %d %ss for %s: give one for all, or one for each", n, given.what, cmdline.Plural(times, "fork"))
		}
	}
	for i := range begins {
		if n := len(prompts); n > 0 {
			begins[i].prompt = prompts[i%n]
		}
		if n := len(agents); n > 0 {
			a, ok := agent.Find(agents[i%n])
			if !ok {
				return nil, cmdline.Usagef("--agent: there is no agent %q; those that are supported: %s", agents[i%n], strings.Join(agent.Programs(), ", "))
			}
			begins[i].agent = a
		}
	}
	return begins, nil
}

// several makes a fork for each outset, and starts its agent or prints how.
// After a failure the earlier forks stay.
func (f *forking) several(begins []outset) error {
	unstarted := 0
	start := f.starting(&unstarted)
	for i, begin := range begins {
		p, err := f.make(begin)
		if err != nil && i > 0 {
			err = cmdline.ExitWith(1, err) // what is missing now was there
		}
		if err == nil {
			err = f.setUp(p)
		}
		if err == nil {
			err = start(p)
		}
		if err != nil && i > 0 {
			err = fmt.Errorf("fork %d of %d, while those before it stay: %w", i+1, len(begins), err)
		}
		if err != nil {
			return err
		}
	}
	if unstarted > 0 {
		return fmt.Errorf("%s not started; the command lines on standard output start them", cmdline.Plural(unstarted, "agent"))
	}
	return nil
}

// starting returns what to do with each of several forks. It counts the agents
// that could not be started.
func (f *forking) starting(unstarted *int) func(*plan) error {
	talk := f.c.App.ErrWriter
	if !f.c.Bool("launch") {
		return f.show
	}
	pane, err := terminal.FindPane("")
	if err != nil {
		cmdline.WriteMessage(talk, "git-agent-fork: ", "this is no pane of tmux, where each agent would get a window: start them with these command lines")
		return f.show
	}
	return func(p *plan) error {
		w, err := pane.NewWindow(f.c.Context, p.Mission, p.Worktree, append(p.environment(), ours()...), p.Command)
		if err != nil {
			*unstarted++
			cmdline.Warn(fmt.Errorf("start the agent of %s: %w", p.Mission, err))
			return f.show(p)
		}
		cmdline.WriteMessage(talk, "", fmt.Sprintf("mission %s has window %s: tmux select-window -t %s", p.Mission, w.Index, w.ID))
		return nil
	}
}

// ours returns our variables that decide which client runs and where its
// settings and sessions are: a tmux window has its server's environment.
func ours() (env []string) {
	names := []string{"PATH", "XDG_DATA_HOME"}
	for _, a := range agent.All() {
		names = append(names, agent.Reads(func(getenv func(string) string) { a.ConfigDir(getenv) })...)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}
