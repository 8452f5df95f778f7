package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/checkout"
	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/git"
	"gitagent/internal/gitdiff"
	"gitagent/internal/snapshot"
)

func undoCommand() *cli.Command {
	return &cli.Command{
		Name:      "undo",
		Usage:     "take back the last restore, revert, adoption or undo in this worktree",
		UsageText: "git agent-turn undo [--merge] [--dry-run]",
		Description: "That is a restore, a revert, the restore of a handoff, the adoption of a fork, or an undo: a second one does again what the first took back. " +
			"What was changed since stays. The present state is recorded first, and its commit printed. " +
			"HEAD, the branch and the index stay as they are.",
		Flags:  []cli.Flag{command.MergeFlag(), command.DryRunFlag()},
		Action: cmdline.NoArgs(undo),
	}
}

func undo(c *cli.Context) error {
	w, err := command.Checkout(c.Context, "undo anything in")
	if err != nil {
		return err
	}
	dates, _ := command.Dates(c, w) // undo works with invalid settings, too
	now, what := time.Now(), ""
	say := func(change *snapshot.Change, changes []gitdiff.FileStat) {
		if what != "" {
			return // the transaction started again
		}
		what = cmdline.Escape(change.String())
		verb := "taking back"
		if c.Bool("dry-run") {
			verb = "would take back"
		}
		cmdline.WriteMessage(c.App.ErrWriter, "", fmt.Sprintf("%s the %s (%s): %s", verb, what, dates.Ago(now, change.At), cmdline.Plural(len(changes), "file")))
	}
	done, err := checkout.Undo(c.Context, w, now, checkout.Merging{RestorePlan: checkout.RestorePlan{Dry: c.Bool("dry-run")}, Merge: c.Bool("merge")}, say)
	switch {
	case errors.Is(err, checkout.ErrNothingDone):
		return command.Advise(c.Context, w, cmdline.NotFoundf("undo: %w", err), "list the turns to restore with: git agent-turn list --all")
	case errors.Is(err, git.ErrNotFound):
		return cmdline.Hint(err, "nothing was changed; what was there before went with that mission")
	case err != nil:
		return command.Unmerged(c, err, "git agent-turn undo --merge")
	}
	return command.PrintMerged(c, "took back the "+what, done)
}
