package main

import (
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/checkout"
	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/gitdiff"
)

func restoreCommand() *cli.Command {
	return &cli.Command{
		Name:      "restore",
		Usage:     "make the worktree, or some paths of it, what it was at the end of a turn",
		UsageText: "git agent-turn restore [--dry-run] (-i | <state>) [-- <path>...]",
		Description: "The present state is recorded first, and its commit printed. HEAD, the branch and the index stay as they are. " +
			"Nothing that is ignored or was left out of that commit is overwritten or deleted.",
		Flags:        []cli.Flag{command.MissionFlag(), command.ChooseFlag(), command.DryRunFlag()},
		BashComplete: completeTurns,
		Action:       cmdline.WithPaths(command.Choosing("restore", restore)),
	}
}

func restore(c *cli.Context) error {
	if c.NArg() != 1 {
		return cmdline.Hint(cmdline.Usagef("restore takes one turn, not %d", c.NArg()), "paths come after --")
	}
	w, err := command.Checkout(c.Context, "restore")
	if err != nil {
		return err
	}
	state, err := command.State(c.Context, w, c.String("mission"), c.Args().First(), c.App.ErrWriter)
	if err != nil {
		return err
	}
	state, foreign, err := command.Usable(c, w, state)
	if err != nil {
		return err
	}
	if err := known(state); err != nil {
		return err
	}
	only := gitdiff.Paths{Dir: ".", Specs: cmdline.Paths(c)}
	done, err := checkout.Restore(c.Context, w, time.Now(), state, only, checkout.RestorePlan{Foreign: foreign, Dry: c.Bool("dry-run")})
	if err != nil {
		return command.Unrestored(err)
	}
	return command.PrintRestored(c, "restored "+state.Describe(), &done.CheckedOut)
}
