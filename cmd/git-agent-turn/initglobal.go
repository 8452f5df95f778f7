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
	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/workspace"
)

// initEverywhere switches recording on in all repositories of the user, or takes
// that back with the hooks.
func initEverywhere(c *cli.Context, named []*agent.Agent) error {
	for _, flag := range []string{"project", "private", "push", "alias"} {
		if c.IsSet(flag) {
			return cmdline.Usagef("--%s is for one repository, and does not go with --global", flag)
		}
	}
	if c.Bool("remove") && c.IsSet("except") {
		return cmdline.Usagef("--except does not go with --remove, which takes all exceptions back")
	}
	p, err := planEverywhere(c, named)
	switch {
	case err != nil:
		return err
	case c.Bool("dry-run"):
		return p.preview(c)
	case c.Bool("remove"):
		return p.takeBack(c)
	}
	return p.carryOut(c)
}

// An everywherePlan is what initEverywhere changes. Everything that can be wrong
// is found before anything is.
type everywherePlan struct {
	edit   *hooks.Edit // of the user's configuration file
	setups []setup
	repo   *git.Repo
	conf   git.Config
	moved  []git.ConfigLine // of agent.record, which go into that file
}

func planEverywhere(c *cli.Context, named []*agent.Agent) (p everywherePlan, err error) {
	remove := c.Bool("remove")
	if p.edit, err = planRecord(!remove, c.StringSlice("except")); err != nil {
		return p, err
	}
	if p.setups, err = planSetups(c, nil, named); err != nil {
		return p, err
	}
	p.repo = git.Nowhere()
	lines, err := p.repo.ConfigLines(c.Context)
	if err != nil {
		return p, err
	}
	p.conf = git.ConfigOf(lines)
	for _, l := range lines {
		if !remove && l.Key == "agent.record" && l.Scope == "global" {
			p.moved = append(p.moved, l)
		}
	}
	return p, nil
}

func (p *everywherePlan) preview(c *cli.Context) error {
	for _, l := range p.moved {
		say(c, true, l.Origin, "would move agent.record out of")
	}
	for _, e := range append(editsOf(p.setups), p.edit) {
		if !e.Changes() {
			say(c, false, e.Path, "settings")
		} else if err := diffTexts(c, p.repo, e); err != nil {
			return err
		}
	}
	return nil
}

// takeBack switches recording off before the hooks go.
func (p *everywherePlan) takeBack(c *cli.Context) error {
	if err := p.write(c, "recording everywhere switched off in"); err != nil {
		return err
	}
	if err := p.install(c, true); err != nil {
		return err
	}
	if p.conf.Bool("agent.record") {
		fmt.Fprintln(c.App.ErrWriter, "agent.record is true in git's configuration and switches recording on still; to take that back: git config --global --unset agent.record")
	}
	fmt.Fprintln(c.App.ErrWriter, "repositories that were switched on by themselves stay so; in each of them: git agent-turn init --remove")
	return nil
}

// carryOut switches recording on when the hooks are there.
func (p *everywherePlan) carryOut(c *cli.Context) error {
	if err := p.install(c, false); err != nil {
		return err
	}
	if err := makeKey(c.Context, p.conf.Get("user.email"), c.App.Writer); err != nil {
		return err
	}
	if err := p.write(c, "recording everywhere switched on in"); err != nil {
		return err
	}
	if err := switchRecall(c); err != nil {
		return err
	}
	for _, l := range p.moved { // which says the same, or the opposite, from before
		if err := p.repo.Configure(c.Context, "--file", l.Origin, "--unset-all", "agent.record"); git.Status(err) != 5 && err != nil { // 5: it was there twice
			return err
		}
		fmt.Fprintf(c.App.ErrWriter, "agent.record = %s is moved from %s to %s\n", l.Value, cmdline.Escape(l.Origin), cmdline.Escape(p.edit.Path))
	}
	for _, s := range p.setups {
		if notice := s.agent.Notice; notice != "" && s.unsettled(nil) {
			fmt.Fprintln(c.App.ErrWriter, notice)
		}
	}
	return nil
}

func (p *everywherePlan) install(c *cli.Context, remove bool) error {
	for _, s := range p.setups {
		if err := s.apply(c, nil, len(p.setups) > 1, remove); err != nil {
			return err
		}
	}
	return nil
}

func (p *everywherePlan) write(c *cli.Context, what string) error {
	changed := p.edit.Changes()
	if changed && p.edit.After != nil {
		if err := os.MkdirAll(filepath.Dir(p.edit.Path), 0o700); err != nil {
			return err
		}
	}
	if err := p.edit.Apply(); err != nil {
		return err
	}
	say(c, changed, p.edit.Path, what)
	return nil
}

func editsOf(setups []setup) (edits []*hooks.Edit) {
	for _, s := range setups {
		if s.plugin == "" {
			edits = append(edits, s.edit)
		}
	}
	return edits
}

// planRecord plans what becomes of the user's configuration file: patterns are
// added to those that it has.
func planRecord(on bool, patterns []string) (*hooks.Edit, error) {
	path := config.UserPath()
	if path == "" {
		return nil, errors.New("switch recording on everywhere: the environment names no home directory")
	}
	set, err := config.Load(path, "")
	if on && set.Recording.Err == nil && err != nil {
		err = nil // it is about other settings
	}
	if on && err != nil {
		return nil, cmdline.Hint(err, "the file was left as it is; mend it, then run the command again")
	}
	for _, p := range patterns {
		if err := config.CheckExcept(p); err != nil {
			return nil, cmdline.Hint(cmdline.Usagef("--except: %v", err), "patterns are those of git's includeIf, such as gitdir:~/clients/secret/ or hasconfig:remote.*.url:https://corp.example/**")
		}
		if !slices.Contains(set.Recording.Except, p) {
			set.Recording.Except = append(set.Recording.Except, p)
		}
	}
	before, err := hooks.PlanFile(path, nil)
	if err != nil {
		return nil, err
	}
	after, err := config.SetRecord(before.Before, on, set.Recording.Except)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(after) == 0 {
		after = nil
	}
	return hooks.PlanFile(path, after)
}

// sayOtherwise warns where what is said elsewhere counts more than what init has
// just done.
func sayOtherwise(c *cli.Context, w *workspace.Workspace, remove bool) error {
	verdict, err := w.Recording(c.Context)
	switch {
	case err != nil:
		return err
	case remove && verdict.On:
		cmdline.Warn(cmdline.Hint(errors.New("recording is on here still, "+w.Because(verdict)), "switch it off here: git config agent.record false"))
	case !remove && !verdict.On:
		cmdline.Warn(cmdline.Hint(errors.New("recording is off here still, "+w.Because(verdict)), "take that back: git config --unset agent.record"))
	}
	return nil
}
