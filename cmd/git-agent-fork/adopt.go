package main

import (
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/target"
	"gitagent/turns"
)

func adoptCommand() *cli.Command {
	return &cli.Command{
		Name:      "adopt",
		Usage:     "take the work of a fork home",
		UsageText: "git agent-fork adopt [--merge] [--dry-run] <fork>",
		Description: "What the fork has changed since it began is merged into the worktree. HEAD, the branch and the index stay as they are. " +
			"The present state is recorded first, and its commit printed. Where both have changed the same lines, nothing is changed, and the paths are listed.",
		Flags:        []cli.Flag{target.MergeFlag(), target.DryRunFlag()},
		BashComplete: target.First(target.CompleteTurns),
		Action:       cmdline.OneArg("fork", adopt),
	}
}

func adopt(c *cli.Context) error {
	w, err := target.Checkout(c.Context, "adopt into")
	if err != nil {
		return err
	}
	state, err := target.State(c.Context, w, "", c.Args().First(), c.App.ErrWriter)
	if err != nil {
		return err
	}
	state, foreign, err := target.Usable(c, w, state)
	if err != nil {
		return err
	}
	r := &turns.Recorder{Workspace: w}
	done, err := r.Adopt(c.Context, time.Now(), state, turns.Merging{
		Checkout: turns.Checkout{Foreign: foreign, Dry: c.Bool("dry-run")}, Merge: c.Bool("merge"),
	})
	if err != nil {
		return target.Unrestored(err)
	}
	return target.PrintRestored(c, "adopted "+state.Describe(), done.Changes, done.Present)
}
