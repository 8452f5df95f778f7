package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"gitagent/internal/git"
	"gitagent/internal/provenance"
	"gitagent/internal/target"
)

func blameCommand() *cli.Command {
	return &cli.Command{
		Name:   "blame",
		Usage:  "show which turn, or else which commit, each line of a file comes from",
		Action: target.Paged(blame),
	}
}

func blame(c *cli.Context) error {
	w, err := target.Workspace(c.Context)
	if err != nil {
		return err
	}
	h, err := provenance.Open(c.Context, w)
	if err != nil {
		return err
	}
	defer h.Close()
	r := provenance.Request{Path: c.Args().First()}
	if c.NArg() == 2 {
		commit, err := w.Repo.Resolve(c.Context, c.Args().First())
		if err != nil {
			return err
		}
		r.Commit, r.Path = git.Hex(commit), c.Args().Get(1)
	}
	lines, err := h.Blame(c.Context, r)
	if err != nil {
		return err
	}
	for _, l := range lines {
		who := "hand"
		if l.Turn != nil {
			who = l.Turn.ID().String()
		}
		commit := l.Blame.Commit.String()
		if commit == "" {
			commit = "00000000"
		}
		fmt.Fprintf(c.App.Writer, "%-14s %.8s %d %s\n", who, commit, l.Blame.Number, l.Blame.Text)
	}
	return nil
}
