package command

import (
	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/terminal"
)

// PageCommand returns the command page, done by git-agent-fork in [WritePage].
func PageCommand(action cli.ActionFunc) *cli.Command {
	return &cli.Command{
		Name:      "page",
		Usage:     "write missions as one HTML file to look at, with everything in it",
		UsageText: "git agent-turn page [--out <file>] [--open] [--without <part>]... [<mission>... | --all]",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "all", Usage: "all missions"},
			&cli.StringFlag{Name: "out", Usage: "write it to `<file>`, not to standard output"},
			&cli.BoolFlag{Name: "open", Usage: "show it in the browser"},
			cmdline.OneOf(cmdline.Repeated(&cli.StringSliceFlag{Name: "without", Usage: "leave out `<part>`: transcript, code or results"}),
				"transcript", "code", "results"),
		},
		BashComplete: CompleteMissions,
		Action:       action,
	}
}

// WritePage has git-agent-fork do what page asks for. Other programs should not
// pay for the library that reads Markdown at every start.
func WritePage(c *cli.Context) error {
	args := []string{"page"}
	for _, name := range []string{"all", "open"} {
		if c.Bool(name) {
			args = append(args, "--"+name)
		}
	}
	if c.IsSet("out") {
		args = append(args, "--out="+c.String("out"))
	}
	for _, part := range c.StringSlice("without") {
		args = append(args, "--without="+part)
	}
	args = append(append(args, "--"), c.Args().Slice()...)
	return cmdline.Told(terminal.RunOwn(c.Context, nil, c.App.Writer, "git-agent-fork", args...))
}
