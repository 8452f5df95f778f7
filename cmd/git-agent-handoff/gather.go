package main

import (
	"errors"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/git"
)

func gatherCommand() *cli.Command {
	return &cli.Command{
		Name:      "gather",
		Usage:     "hand off what can be known from outside; for a supervisor, before it removes a worktree",
		UsageText: "git agent-handoff gather --exit-type <type> [--mission <id>] [--agent <id>] [--tmux <target>]",
		Description: "What is not committed is kept, what the session has written itself stays, " +
			"and a crash does not replace a clean end that is a few minutes old.",
		Flags: []cli.Flag{
			missionFlag(),
			exitTypeFlag(""),
			agentFlag(),
			snapshotFlag(),
		},
		Action: gather,
	}
}

func gather(c *cli.Context) error {
	if c.NArg() > 0 {
		return cmdline.Usagef("gather takes no arguments")
	}
	if !c.IsSet("exit-type") {
		return cmdline.Usagef("gather needs --exit-type <type>")
	}
	r, err := request(c)
	if err != nil {
		return err
	}
	s, err := open(c)
	if err != nil {
		return err
	}
	err = handOff(c, s, r)
	if errors.Is(err, git.ErrNotFound) {
		return cmdline.Hint(err, "name a mission with --mission <id>; list them with: git agent-turn missions")
	}
	return err
}
