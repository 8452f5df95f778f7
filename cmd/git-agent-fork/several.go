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
)

// maxTimes is how many forks one command line makes at most: each of them is a worktree, and an agent.
const maxTimes = 32

// promptsOf returns what each fork that the command line asks for starts with, "" for no prompt of its own.
func promptsOf(c *cli.Context) ([]string, error) {
	times := 0
	if c.IsSet("times") {
		if times = c.Int("times"); times < 1 {
			return nil, cmdline.Usagef("--times: at least one fork is made, not %d", times)
		}
	}
	prompts, err := share(c.StringSlice("prompt"), times)
	if n := len(prompts); n > 1 && c.IsSet("worktree") {
		return nil, cmdline.Hint(cmdline.Usagef("--worktree is for one fork, not for %d", n),
			"leave it out: each gets a directory of its own, beside the repository")
	}
	return prompts, err
}

// share shares prompts out among so many forks; with 0 there is one for each prompt.
func share(given []string, times int) ([]string, error) {
	if times == 0 {
		times = max(1, len(given))
	}
	switch n := len(given); {
	case times > maxTimes:
		return nil, cmdline.Usagef("at most %d forks are made at once, not %d", maxTimes, times)
	case slices.ContainsFunc(given, func(p string) bool { return strings.TrimSpace(p) == "" }):
		return nil, cmdline.Usagef("--prompt: it is empty")
	case n == 0:
		return make([]string, times), nil
	case n == 1:
		return slices.Repeat(given, times), nil
	case n != times:
		return nil, cmdline.Usagef("there are %d prompts for %s: give one for all, or one for each", n, cmdline.Plural(times, "fork"))
	}
	return given, nil
}

// several makes a fork for each of the prompts, and starts its agent or prints how. If one can't be made,
// those before it stay.
func (f *forking) several(prompts []string) error {
	unstarted := 0
	start := f.starting(&unstarted)
	for i, prompt := range prompts {
		p, err := f.make(prompt)
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
			err = fmt.Errorf("fork %d of %d, while those before it stay: %w", i+1, len(prompts), err)
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

// starting returns what is done with each of several forks. It counts those whose agent should have been
// started and was not.
func (f *forking) starting(unstarted *int) func(*plan) error {
	talk := f.c.App.ErrWriter
	if !f.c.Bool("launch") {
		return f.show
	}
	pane, err := terminal.FindPane("")
	if err != nil {
		cmdline.Tell(talk, "git-agent-fork: ", "this is no pane of tmux, where each agent would get a window: start them with these command lines")
		return f.show
	}
	return func(p *plan) error {
		w, err := pane.NewWindow(f.c.Context, p.Mission, p.Worktree, append(p.environment(), ours()...), p.Command)
		if err != nil {
			*unstarted++
			cmdline.Warn(fmt.Errorf("start the agent of %s: %w", p.Mission, err))
			return f.show(p)
		}
		cmdline.Tell(talk, "", fmt.Sprintf("mission %s has window %s: tmux select-window -t %s", p.Mission, w.Index, w.ID))
		return nil
	}
}

// ours are the variables of this process that decide which client is started, and where it keeps its
// sessions: a window of tmux has the environment of its server.
func ours() (env []string) {
	names := []string{"PATH"}
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
