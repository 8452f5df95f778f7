package main

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"gitagent/handoffstore"
	"gitagent/internal/cmdline"
	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/target"
)

// open finds the repository and its settings.
func open(c *cli.Context) (*handoffstore.Store, error) {
	w, err := target.Workspace(c.Context)
	return &handoffstore.Store{Workspace: w}, err
}

// mission is the mission that a command works on, "" if there is none.
func mission(c *cli.Context, s *handoffstore.Store) (ledger.ID, error) {
	return target.Mission(c.Context, s.Workspace, c.String("mission"), c.App.ErrWriter)
}

// find opens the store and returns the handoff that the first argument names, else the last one. The
// caller closes it.
func find(c *cli.Context) (*handoffstore.Store, *handoffstore.Found, error) {
	s, err := open(c)
	if err != nil {
		return nil, nil, err
	}
	f, err := findIn(c, s)
	return s, f, err
}

func findIn(c *cli.Context, s *handoffstore.Store) (*handoffstore.Found, error) {
	if c.NArg() > 1 {
		return nil, cmdline.Usagef("%s takes one handoff, not %d", c.Command.Name, c.NArg())
	}
	id, err := mission(c, s)
	if err != nil {
		return nil, err
	}
	f, err := handoffstore.Find(c.Context, s.Repo, id, c.Args().First())
	if errors.Is(err, git.ErrNotFound) {
		return nil, cmdline.Hint(err, "list the handoffs with: git agent-handoff list [--all]")
	}
	return f, err
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
	for _, h := range list {
		fmt.Fprintln(c.App.Writer, cmdline.Escape(h.ID().String()))
	}
}
