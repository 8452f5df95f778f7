package main

import (
	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/command"
)

func movedCommands() []*cli.Command {
	return []*cli.Command{
		{
			Name:   "gather",
			Usage:  "going away: git agent-handoff write --exit-type <type>",
			Hidden: true,
			Flags:  []cli.Flag{command.MissionFlag(), exitTypeFlag(""), agentFlag(), snapshotFlag()},
			Action: cmdline.NoArgs(cmdline.Moved("git agent-handoff write --exit-type <type>", func(c *cli.Context) error {
				if !c.IsSet("exit-type") {
					return cmdline.Usagef("gather needs --exit-type <type>")
				}
				return write(c)
			})),
		},
		{
			Name:         "accept",
			Usage:        "going away: git agent-turn trust accept <mission>",
			Hidden:       true,
			Flags:        []cli.Flag{command.MissionFlag()},
			BashComplete: command.First(completeHandoffs),
			Action: cmdline.OneArg("handoff", func(c *cli.Context) error {
				s, f, err := find(c)
				if err != nil {
					return err
				}
				defer f.Close()
				return cmdline.Moved("git agent-turn trust accept "+string(f.In), func(c *cli.Context) error {
					return command.Accept(c, s.Workspace, f.In)
				})(c)
			}),
		},
	}
}
