package main

import (
	"errors"
	"os"

	"github.com/urfave/cli/v2"

	"gitagent/handoffstore"
	"gitagent/hooks"
	"gitagent/internal/cmdline"
	"gitagent/internal/config"
	"gitagent/internal/current"
	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/session"
)

// missionFlag names a mission; without it the commands find the current one.
func missionFlag() cli.Flag {
	return &cli.StringFlag{Name: "mission", Usage: "of the mission `<id>`"}
}

func jsonFlag() cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "print one JSON object per line"}
}

// open finds the repository and what is configured for it.
func open(c *cli.Context) (*handoffstore.Store, error) {
	repo, err := current.Repo(c.Context)
	if err != nil {
		return nil, err
	}
	conf, err := current.Settings(repo)
	if err != nil {
		return nil, err
	}
	return storeOf(repo, conf), nil
}

func storeOf(repo *git.Repo, conf *config.Config) *handoffstore.Store {
	return &handoffstore.Store{Repo: repo, Capture: conf.Capture, Handoff: conf.Handoff}
}

// mission is the one that a command works on, "" if there is none.
func mission(c *cli.Context, s *handoffstore.Store) (ledger.ID, error) {
	return current.Mission(c.Context, s.Repo, s.Capture.BranchPrefix, c.String("mission"), c.App.ErrWriter)
}

// find returns the handoff that the first argument names, the last one without. The caller closes it.
func find(c *cli.Context, s *handoffstore.Store) (*handoffstore.Found, error) {
	if c.NArg() > 1 {
		return nil, cmdline.Usagef("%s takes one handoff, not %d", c.Command.Name, c.NArg())
	}
	name := c.Args().First()
	id, err := mission(c, s)
	if err != nil {
		return nil, err
	}
	f, err := handoffstore.Find(c.Context, s.Repo, id, name)
	if errors.Is(err, git.ErrNotFound) {
		return nil, cmdline.Hint(err, "list the handoffs with: git agent-handoff list [--all]")
	}
	return f, err
}

// agentSession is the session whose agent runs the command; nil if a person does.
func agentSession(repo *git.Repo) *session.State {
	id := hooks.ReadClient(os.Getenv).SessionID
	if id == "" {
		return nil
	}
	return session.Open(repo.CommonDir).Load(id)
}

// completeHandoffs offers the handoffs of the current mission.
func completeHandoffs(c *cli.Context) {
	s, err := open(c)
	if err != nil {
		return
	}
	id, err := mission(c, s)
	if err != nil || id == "" {
		return
	}
	list, err := handoffstore.List(c.Context, s.Repo, id)
	if err != nil {
		return
	}
	table := cmdline.NewTable(cmdline.Column{})
	for _, h := range list {
		table.Row(h.ID().String())
	}
	_ = table.Print(c.App.Writer)
}
