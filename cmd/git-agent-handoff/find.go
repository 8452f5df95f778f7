package main

import (
	"errors"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"gitagent/handoffstore"
	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/git"
	"gitagent/internal/record"
)

func open(c *cli.Context) (*handoffstore.Store, error) {
	w, err := command.Workspace(c.Context)
	return &handoffstore.Store{Workspace: w}, err
}

func mission(c *cli.Context, s *handoffstore.Store) (record.ID, error) {
	return command.Mission(c.Context, s.Workspace, c.String("mission"), c.App.ErrWriter)
}

// find opens the store and the handoff that the first argument names, or the
// last one. The caller closes it.
func find(c *cli.Context) (*handoffstore.Store, *handoffstore.Found, error) {
	s, err := open(c)
	if err != nil {
		return nil, nil, err
	}
	f, err := findIn(c, s)
	return s, f, err
}

func findIn(c *cli.Context, s *handoffstore.Store) (*handoffstore.Found, error) {
	id, err := mission(c, s)
	if err != nil {
		return nil, err
	}
	f, err := handoffstore.Find(c.Context, s.Repo, id, c.Args().First())
	if errors.Is(err, git.ErrNotFound) {
		return nil, cmdline.Hint(err, "list the handoffs with: git agent-handoff list --all")
	}
	if err != nil {
		return nil, err
	}
	if err := command.Readable(c.Context, s.Workspace, f.In); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

const maxCompleted = 200

// completeHandoffs proposes the newest handoffs of a mission: the one before a
// slash, that of --mission, or the current one.
func completeHandoffs(c *cli.Context) {
	s, err := open(c)
	if err != nil {
		return
	}
	named, _, slashed := strings.Cut(cmdline.Typed(c.Context), "/")
	prefix := named + "/"
	if !slashed {
		prefix, named = "", c.String("mission")
	}
	id := command.Likely(c.Context, s.Workspace, named)
	if id == "" {
		return
	}
	newest, _ := handoffstore.Newest(c.Context, s.Repo, id, maxCompleted) // an unreadable one is not proposed
	for _, h := range newest {
		cmdline.Propose(c, prefix+strconv.Itoa(h.Number), about(h))
	}
}
