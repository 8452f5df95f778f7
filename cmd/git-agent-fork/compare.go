package main

import (
	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/target"
)

func compareCommand() *cli.Command {
	return &cli.Command{
		Name:         "compare",
		Usage:        "compare what forks of a turn have done",
		UsageText:    "git agent-fork compare <fork> <fork>...",
		BashComplete: target.CompleteTurns,
		Action:       compare,
	}
}

func compare(c *cli.Context) error {
	if c.NArg() < 2 {
		return cmdline.Usagef("compare takes two forks or more, not %d", c.NArg())
	}
	return nil
}
