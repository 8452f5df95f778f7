package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/agent"
	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/git"
	"gitagent/internal/missionstore"
	"gitagent/internal/pusher"
	"gitagent/internal/record"
	"gitagent/internal/remote"
	"gitagent/internal/terminal"
)

func startCommand() *cli.Command {
	return &cli.Command{
		Name:  "start",
		Usage: "begin a mission on a branch of its own",
		UsageText: "git agent-turn start [--title <text>] [--worktree <dir>] [--from <rev>] [--push]\n" +
			"                     [--include <pattern>]... [--no-include] [--setup <command>] [--no-setup]\n" +
			"                     [-- <agent command>...]",
		Description: "The branch is checked out here, or in a new worktree, and every turn moves it. " +
			"With an agent command, that is run there; its session is known to the mission before it begins, if the client lets it be named.",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "title", Usage: "call the mission `<text>`"},
			&cli.StringFlag{Name: "worktree", Usage: "check it out in a new worktree at `<dir>`"},
			&cli.StringFlag{Name: "from", Usage: "start at `<rev>`, not at HEAD", Value: "HEAD"},
			&cli.BoolFlag{Name: "push", Usage: "push the mission at once, before its first turn"},
		}, command.IncludeFlags(), command.SetupFlags()),
		Action: start,
	}
}

func start(c *cli.Context) error {
	if err := command.CheckPlanting(c, c.IsSet("worktree")); err != nil {
		return err
	}
	w, err := command.Workspace(c.Context)
	if err != nil {
		return err
	}
	if w.Repo.Top == "" && !c.IsSet("worktree") {
		return cmdline.Hint(errors.New("a bare repository has no worktree"), "make one with --worktree <dir>")
	}
	if !c.IsSet("worktree") {
		if _, o := place(c.Context, w.Repo); o != nil {
			return o.err()
		}
	}
	from, err := w.Repo.Resolve(c.Context, c.String("from"))
	if errors.Is(err, git.ErrNotFound) {
		return cmdline.Hint(fmt.Errorf("no commit %q", c.String("from")), "a mission starts at a commit; make the first one")
	}
	if err != nil {
		return err
	}
	b := missionstore.Beginning{Title: c.String("title"), From: from, At: time.Now()}
	if b.ID, err = record.NewID(); err != nil {
		return err
	}
	dir, setup := w.Repo.Top, ""
	if c.IsSet("worktree") {
		if b.Worktree, err = filepath.Abs(c.String("worktree")); err != nil {
			return err
		}
		dir = b.Worktree
		if b.Include, err = command.Include(c, w, false); err != nil {
			return err
		}
		if setup, err = command.Setup(c, w, false); err != nil {
			return err
		}
	}
	cmd := c.Args().Slice()
	if len(cmd) > 0 {
		if err := terminal.Find(cmd[0]); err != nil {
			return err
		}
		if a, ok := agent.Started(cmd); ok && a.WithSession != nil {
			id := a.NewSession()
			if with, ok := a.WithSession(cmd, id); ok {
				cmd, b.Session = with, id
			}
		}
	}
	var remotes []*remote.Remote
	if c.Bool("push") {
		if remotes, err = command.Remotes(c.Context, w); err != nil {
			return err
		}
	}
	if _, err := w.Switch(true); err != nil {
		return err
	}
	told, stop := command.Copying(c.App.ErrWriter, b.Include)
	b.Copying, b.Unhooked = told, command.Unhooked(c)
	m, included, err := missionstore.Begin(c.Context, w, b)
	stop()
	if err != nil {
		return command.Branchless(c.Context, w, err)
	}
	command.NotPushed(c.App.ErrWriter, m.ID, pusher.PushToEach(c.Context, remotes, m.ID))
	if b.Worktree != "" {
		command.TellIncluded(c.App.ErrWriter, included)
		command.TellLacks(c.Context, c.App.ErrWriter, dir, false)
	}
	unset := command.RunSetup(c, setup, dir, m.ID)
	if len(cmd) == 0 {
		_, err := fmt.Fprintln(c.App.Writer, m.ID)
		return cmp.Or(unset, err)
	}
	fmt.Fprintf(c.App.ErrWriter, "mission %s on %s\n", m.ID, w.BranchName(m.ID))
	if unset != nil {
		return unset
	}
	return terminal.Launch(dir, cmd, []string{"GIT_AGENT_MISSION=" + string(m.ID)})
}
