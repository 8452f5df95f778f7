package main

import (
	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
)

// movedCommands returns replaced commands, which work for one more release.
func movedCommands() []*cli.Command {
	missions, remove := missionsCommand(), removeCommand()
	return []*cli.Command{
		{
			Name:   "tree",
			Usage:  "going away: git agent-turn missions --tree",
			Hidden: true,
			Flags:  missions.Flags,
			Action: cmdline.Moved("git agent-turn missions --tree", func(c *cli.Context) error {
				if err := c.Set("tree", "true"); err != nil {
					return err
				}
				return missions.Action(c)
			}),
		},
		{
			Name:         "prune",
			Usage:        "going away: git agent-turn remove --older-than <age>",
			Hidden:       true,
			Flags:        remove.Flags,
			BashComplete: remove.BashComplete,
			Action: cmdline.Moved("git agent-turn remove --older-than <age>", func(c *cli.Context) error {
				if !c.IsSet("older-than") { // an argument would be a mission
					return cmdline.Usagef("prune needs --older-than <age>")
				}
				return remove.Action(c)
			}),
		},
	}
}
