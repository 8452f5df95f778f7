package main

import (
	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/target"
)

func diffCommand() *cli.Command {
	return &cli.Command{
		Name:      "diff",
		Usage:     "show what a turn changed, or what lies between two",
		ArgsUsage: "[<turn> [<turn>]]",
		UsageText: "git agent-turn diff [--stat] [<turn> [<turn>]]",
		Flags: []cli.Flag{
			missionFlag(),
			&cli.BoolFlag{Name: "stat", Usage: "only the paths and how much changed in each"},
		},
		BashComplete: completeTurns,
		Action:       diff,
	}
}

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
