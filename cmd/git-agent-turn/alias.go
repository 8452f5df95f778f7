package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/git"
	"gitagent/internal/workspace"
)

// The alias of init --alias is `git log --all` without the commits of ledgers
// and notes, but with missions' branches.
const (
	aliasName    = "la"
	aliasCommand = "log --exclude=refs/agent/* --exclude=refs/notes/* --all"
)

// aliasFree returns an error if git la is already something else.
func aliasFree(c *cli.Context, w *workspace.Workspace) error {
	conf, err := w.Repo.Config(c.Context)
	if err != nil {
		return err
	}
	for _, key := range []string{"alias." + aliasName, "alias." + aliasName + ".command"} { // the second is git 2.55's
		if now := conf.Get(key); now != "" && now != aliasCommand {
			return cmdline.Hintf(fmt.Errorf("git %s is yours already: %s; nothing was changed", aliasName, cmdline.OneLine(now)),
				"choose another name: git config --global alias.<name> '%s'", aliasCommand)
		}
	}
	return nil
}

func makeAlias(c *cli.Context, w *workspace.Workspace) error {
	conf, err := w.Repo.Config(c.Context)
	if err == nil && conf.Get("alias."+aliasName) != aliasCommand {
		err = w.Repo.Configure(c.Context, "--global", "alias."+aliasName, aliasCommand)
	}
	if err == nil {
		_, err = fmt.Fprintf(c.App.Writer, "git %s is git %s\n", aliasName, aliasCommand)
	}
	return err
}

// aliasFile returns the user's git configuration file with our alias, or "".
func aliasFile(c *cli.Context, w *workspace.Workspace) (string, error) {
	out, err := w.Repo.Output(c.Context, nil, "config", "--global", "-z", "--show-origin", "--fixed-value", "--get-all", "alias."+aliasName, aliasCommand)
	if git.Status(err) == 1 { // no such value
		return "", nil
	}
	origin, _, _ := strings.Cut(string(out), "\x00")
	return strings.TrimPrefix(origin, "file:"), err
}

// dropAlias removes the alias, and the file if nothing else is in it.
func dropAlias(c *cli.Context, w *workspace.Workspace) error {
	file, err := aliasFile(c, w)
	if file == "" || err != nil {
		return err
	}
	if err := w.Repo.Configure(c.Context, "--global", "--fixed-value", "--unset-all", "alias."+aliasName, aliasCommand); err != nil {
		return err
	}
	if info, err := os.Lstat(file); filepath.IsAbs(file) && err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(c.App.Writer, "git %s is no command any more\n", aliasName)
	return err
}
