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

// makeAlias gives the user `git la`, in all repositories, unless the name is taken.
func makeAlias(c *cli.Context, w *workspace.Workspace) error {
	conf, err := w.Repo.Config(c.Context)
	if err != nil {
		return err
	}
	switch now := conf.Get("alias." + aliasName); now {
	case aliasCommand:
	case "":
		if _, err := w.Repo.Output(c.Context, nil, "config", "--global", "alias."+aliasName, aliasCommand); err != nil {
			return err
		}
	default:
		return cmdline.Hintf(fmt.Errorf("git %s is yours already: %s; nothing was changed", aliasName, cmdline.OneLine(now)),
			"choose another name: git config --global alias.<name> '%s'", aliasCommand)
	}
	_, err = fmt.Fprintf(c.App.Writer, "git %s is git %s\n", aliasName, aliasCommand)
	return err
}
