package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/workspace"
)

// The alias that init --alias makes. `git log --all` shows every ref, and so the commits of ledgers and
// notes; without them it shows what it did before anything was recorded, and missions' branches.
const (
	aliasName    = "la"
	aliasCommand = "log --exclude=refs/agent/* --exclude=refs/notes/* --all"
)

// aliasFree returns an error if git la is something else already.
func aliasFree(c *cli.Context, w *workspace.Workspace) error {
	conf, err := w.Repo.Config(c.Context)
	if err != nil {
		return err
	}
	if now := conf.Get("alias." + aliasName); now != "" && now != aliasCommand {
		return cmdline.Hintf(fmt.Errorf("git %s is yours already: %s; nothing was changed", aliasName, cmdline.OneLine(now)),
			"choose another name: git config --global alias.<name> '%s'", aliasCommand)
	}
	return nil
}

// makeAlias gives the user `git la`, in all repositories.
func makeAlias(c *cli.Context, w *workspace.Workspace) error {
	conf, err := w.Repo.Config(c.Context)
	if err == nil && conf.Get("alias."+aliasName) != aliasCommand {
		_, err = w.Repo.Output(c.Context, nil, "config", "--global", "alias."+aliasName, aliasCommand)
	}
	if err == nil {
		_, err = fmt.Fprintf(c.App.Writer, "git %s is git %s\n", aliasName, aliasCommand)
	}
	return err
}
