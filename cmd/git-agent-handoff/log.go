package main

import (
	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
)

func logCommand() *cli.Command {
	return &cli.Command{
		Name:        "log",
		Usage:       "keep a complete log of the terminal, and read it",
		UsageText:   "git agent-handoff log (start | show) [<file>]",
		Subcommands: []*cli.Command{logStartCommand(), logShowCommand()},
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return cmdline.Usagef("unknown command %q", c.Args().First())
			}
			return cmdline.Usagef("log needs a command: start or show")
		},
	}
}

func tmuxFlag(usage string) cli.Flag {
	return &cli.StringFlag{Name: "tmux", Usage: usage}
}
