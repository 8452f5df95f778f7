package target

import (
	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
)

// PageCommand is the command page. Git-agent-turn has it, and git-agent-fork does it.
func PageCommand(action cli.ActionFunc) *cli.Command {
	return &cli.Command{
		Name:      "page",
		Usage:     "write missions as one HTML file to look at, with everything in it",
		UsageText: "git agent-turn page [--out <file> | --open] [--without <part>]... [<mission>... | --all]",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "all", Usage: "all missions"},
			&cli.StringFlag{Name: "out", Usage: "write it to `<file>`"},
			cmdline.Repeated(&cli.StringSliceFlag{Name: "without", Usage: "leave out `<part>`: transcript, code or results"}),
		},
		Action: action,
	}
}
