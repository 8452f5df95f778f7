package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"gitagent/hooks"
	"gitagent/internal/agent"
	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/terminal"
	"gitagent/internal/workspace"
)

// A setup is what init does about the hooks of one agent.
type setup struct {
	agent  *agent.Agent
	edit   *hooks.Edit
	plugin string         // that has the hooks already, so nothing is edited; or ""
	offer  string         // the command that installs one, or ""
	stay   []hooks.Plugin // that remain after the hooks are removed
	err    error          // why the edit can't be made
}

func namedAgents(names []string) ([]*agent.Agent, error) {
	var named []*agent.Agent
	for _, name := range names {
		a, ok := agent.Find(name)
		if !ok {
			return nil, cmdline.Usagef("unknown agent %q: want %s", name, command.OneOf(agent.Programs()))
		}
		if !slices.Contains(named, a) {
			named = append(named, a)
		}
	}
	return named, nil
}

// planSetups plans what is done about the hooks of the named agents, and
// changes nothing. The default for removal is all agents with our hooks,
// otherwise those used on this machine, among which a person may choose.
func planSetups(c *cli.Context, w *workspace.Workspace, named []*agent.Agent) ([]setup, error) {
	remove := c.Bool("remove")
	agents := named
	switch {
	case len(named) > 0:
	case remove:
		agents = agent.All()
	default:
		agents = command.ToInstall()
	}
	var setups []setup
	for _, a := range agents {
		s := planSetup(a, w, c.Bool("project"), remove)
		switch unsupported := errors.Is(s.err, errors.ErrUnsupported); {
		case unsupported && len(named) > 0:
			return nil, cmdline.Hint(fmt.Errorf("hooks of %s: %w", a.Title, s.err), "leave --project out: git agent-turn init --agent "+a.Program)
		case unsupported, remove && len(named) == 0 && s.err == nil && !s.edit.Changes() && len(s.stay) == 0:
		default:
			setups = append(setups, s)
		}
	}
	if len(setups) == 0 {
		setups = []setup{planSetup(agent.Default(), w, c.Bool("project"), remove)}
	}
	if len(named) == 0 && !remove {
		var err error
		if setups, err = chooseSetups(c, setups); err != nil {
			return nil, err
		}
	}
	return setups, wrongWith(setups)
}

func planSetup(a *agent.Agent, w *workspace.Workspace, project, remove bool) setup {
	s := setup{agent: a}
	places := placesOf(a, w)
	report := a.Inspect(places)
	if remove {
		s.edit, s.err = a.Remove(places, project)
		s.stay = slices.DeleteFunc(report.Plugins, func(p hooks.Plugin) bool { return p.Remove == "" })
		return s
	}
	s.edit, s.err = a.Install(places, project)
	path := ""
	if s.err == nil {
		path = s.edit.Path
	}
	if s.plugin = report.Other(path); s.plugin != "" {
		s.err = nil
	} else if len(report.Off) == 0 && a.Plugin != nil {
		s.offer = a.Plugin(terminal.Share("git-agent"))
	}
	return s
}

// chooseSetups asks a person which of several agents without hooks get them.
func chooseSetups(c *cli.Context, setups []setup) ([]setup, error) {
	if len(agent.Installed(os.Getenv)) == 0 {
		cmdline.WriteMessage(c.App.ErrWriter, "", "no agent was found on this machine; the hooks are those of "+agent.Default().Title)
	}
	if len(setups) == 1 || c.Bool("dry-run") || !cmdline.CanAsk() {
		return setups, nil
	}
	var chosen []setup
	for _, s := range setups {
		if s.plugin == "" && (s.err != nil || s.edit.Changes()) {
			answer, err := cmdline.Ask(c.Context, fmt.Sprintf("Install the hooks of %s?", s.agent.Title), "yes", "no")
			if err != nil {
				return nil, err
			}
			if answer != "yes" {
				continue
			}
		}
		chosen = append(chosen, s)
	}
	if len(chosen) == 0 {
		return nil, errors.New("no agent was chosen, and nothing was changed")
	}
	return chosen, nil
}

func wrongWith(setups []setup) error {
	for _, s := range setups {
		if s.err != nil {
			return cmdline.Hint(s.err, "the file was left as it is; mend it, then run the command again")
		}
	}
	return nil
}

// apply makes the change and says where, naming the agent if there are several.
func (s setup) apply(c *cli.Context, w *workspace.Workspace, several, remove bool) error {
	if s.plugin != "" {
		s.sayPlugin(c)
		return nil
	}
	changed := s.edit.Changes()
	if err := s.edit.Apply(); err != nil {
		return err
	}
	if changed && s.edit.After == nil {
		s.tidy(w)
	}
	what := "hooks"
	if several {
		what += " of " + s.agent.Title
	}
	say(c, changed, s.edit.Path, what+map[bool]string{true: " removed from", false: " installed in"}[remove])
	s.sayStay(c)
	return nil
}

// tidy removes the empty directories above a removed file, which init may have
// made. Links stay, and so do directories that the user's environment names.
func (s setup) tidy(w *workspace.Workspace) {
	stay := []string{topOf(w), s.agent.ConfigDir(os.Getenv)}
	usual := s.agent.ConfigDir(func(name string) string {
		if name == "HOME" || name == "USERPROFILE" || name == "XDG_CONFIG_HOME" {
			return os.Getenv(name)
		}
		return ""
	})
	if stay[1] == usual {
		home, err := os.UserHomeDir()
		if err != nil {
			return
		}
		stay[1] = home
	}
	for dir := filepath.Dir(s.edit.Path); !slices.Contains(stay, dir); dir = filepath.Dir(dir) {
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() || os.Remove(dir) != nil {
			return
		}
	}
}

// unsettled reports whether the user still has to let the client run the hooks,
// because they are new or not yet trusted.
func (s setup) unsettled(w *workspace.Workspace) bool {
	if s.plugin != "" {
		return false
	}
	untrusted := func(f hooks.Finding) bool { return f.Problem == hooks.Untrusted }
	return s.edit.Changes() || slices.ContainsFunc(s.agent.Inspect(placesOf(s.agent, w)).Findings, untrusted)
}

// topOf returns the top of a worktree; "" for nil, outside of one.
func topOf(w *workspace.Workspace) string {
	if w == nil {
		return ""
	}
	return w.Repo.Top
}

func placesOf(a *agent.Agent, w *workspace.Workspace) hooks.Places {
	return hooks.Places{Config: a.ConfigDir(os.Getenv), Project: topOf(w)}
}

func (s setup) sayPlugin(c *cli.Context) {
	fmt.Fprintf(c.App.Writer, "the hooks are those of the plugin %s\n", cmdline.Escape(s.plugin))
}

func (s setup) sayStay(c *cli.Context) {
	for _, p := range s.stay {
		fmt.Fprintf(c.App.Writer, "the plugin %s stays; remove it with: %s\n", cmdline.Escape(p.Name), cmdline.Escape(p.Remove))
	}
}

func (s setup) sayOffer(c *cli.Context) {
	if s.offer != "" {
		cmdline.WriteMessage(c.App.ErrWriter, "", fmt.Sprintf("skills and commands for %s come with the plugin, which may be installed beside the hooks: %s", s.agent.Title, s.offer))
	}
}
