package main

import (
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/checkout"
	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

func revertCommand() *cli.Command {
	return &cli.Command{
		Name:      "revert",
		Usage:     "take the change of a turn out of the worktree",
		UsageText: "git agent-turn revert [--merge] [--dry-run] (-i | <turn> | <state>..<state>)",
		Description: "What was changed since stays. The present state is recorded first, and its commit printed. " +
			"HEAD, the branch and the index stay as they are. Where the same lines have changed since, nothing is changed, and the paths are listed, " +
			"with the turns that changed them.",
		Flags:        []cli.Flag{command.MissionFlag(), command.ChooseFlag(), command.MergeFlag(), command.DryRunFlag()},
		BashComplete: completeRanges,
		Action:       command.Choosing("revert", cmdline.OneArg("turn", revert)),
	}
}

func revert(c *cli.Context) error {
	w, err := command.Checkout(c.Context, "revert")
	if err != nil {
		return err
	}
	from, to, err := reverted(c, w)
	if err != nil {
		return err
	}
	if err := known(from, to); err != nil {
		return err
	}
	from, foreign, err := command.Usable(c, w, from)
	if err != nil {
		return err
	}
	to, also, err := command.Usable(c, w, to)
	if err != nil {
		return err
	}
	done, err := checkout.Revert(c.Context, w, time.Now(), from, to, checkout.Merging{
		RestorePlan: checkout.RestorePlan{Foreign: foreign || also, Dry: c.Bool("dry-run")}, Merge: c.Bool("merge"),
	})
	if err != nil {
		return command.Unmerged(c, err, "git agent-turn revert --merge "+nameOf(from, to))
	}
	if done.Jumped {
		cmdline.Warn(fmt.Errorf("HEAD jumped before %s ended; what was committed in it stays", to.Describe()))
	}
	return command.PrintMerged(c, "reverted "+checkout.Span(from, to), done)
}

// reverted returns the start and end of the named turn or range.
func reverted(c *cli.Context, w *workspace.Workspace) (from, to *turns.State, err error) {
	name := c.Args().First()
	from, to, isRange, err := command.Range(c.Context, w, c.String("mission"), name, c.App.ErrWriter)
	switch {
	case err != nil:
		return nil, nil, err
	case isRange && from.In == to.In && from.Turn != nil && to.Turn != nil && from.Turn.Turn > to.Turn.Turn:
		return nil, nil, cmdline.Usagef("%q: the first comes after the second", name)
	case isRange:
		return from, to, nil
	case !to.Ended():
		return nil, nil, cmdline.Usagef("revert takes a turn or a range of turns, and %q is %s", name, to.Describe())
	}
	return to.Turn.Before(), to, nil
}

// nameOf returns the name that revert takes for what is between two states.
func nameOf(from, to *turns.State) string {
	if name := to.String(); from.String() == name+"^" {
		return name
	}
	return from.String() + ".." + to.String()
}
