package main

import (
	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/target"
)

func diff(c *cli.Context) error {
	if c.NArg() > 2 {
		return cmdline.Usagef("diff takes two turns at most, not %d", c.NArg())
	}
	w, err := target.Workspace(c.Context)
	if err != nil {
		return err
	}
	t, err := findTurn(c, w, 0)
	if err != nil {
		return err
	}
	from, to := t.Base, t.Code
	if c.NArg() == 2 {
		second, err := findTurn(c, w, 1)
		if err != nil {
			return err
		}
		from, to = t.Code, second.Code
	}
	format := []string{"--patch"}
	if c.Bool("stat") {
		format = []string{"--stat"}
	}
	return diffTrees(c, w.Repo, from, to, format)
}
