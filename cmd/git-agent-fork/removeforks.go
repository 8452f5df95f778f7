package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/gitdiff"
	"gitagent/internal/missionstore"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// askable returns an error if --remove-others can't ask.
func askable() error {
	if cmdline.CanAsk() {
		return nil
	}
	return cmdline.Hint(errors.New("--remove-others asks what to remove, and "+cmdline.Unasked()),
		"nothing was changed; adopt the fork without it, and remove another one with: git agent-turn remove <mission>")
}

// removeOthers removes, after a question, worktrees and branches of the other
// forks of a fork's turn. Forks with work that is nowhere else stay.
func removeOthers(c *cli.Context, w *workspace.Workspace, state *turns.State) error {
	lines, unread := turns.Missions(c.Context, w.Repo)
	if unread != nil { // they stay
		cmdline.Warn(command.Damaged(unread))
	}
	live := func(ctx context.Context) ([]turns.Live, error) { return command.Live(ctx, w, time.Now()) }
	going, table, err := removable(c, w, turns.Siblings(lines, state.In), live)
	if err != nil {
		return err
	}
	if len(going) == 0 {
		cmdline.WriteMessage(c.App.ErrWriter, "", "no other fork of that turn has a worktree or a branch that can be removed")
		return nil
	}
	if err := table.Print(c.App.ErrWriter); err != nil {
		return err
	}
	question := "Remove the worktree and the branch of each of them? Ignored files in them go as well; turns and conversations stay."
	if len(going) == 1 {
		question = "Remove its worktree and its branch? Ignored files in it go as well; turns and conversations stay."
	}
	answer, err := cmdline.Ask(c.Context, question, "yes", "no")
	if err != nil {
		return err
	}
	if answer != "yes" {
		cmdline.WriteMessage(c.App.ErrWriter, "", "none was removed")
		return nil
	}
	for _, l := range going {
		gone, err := missionstore.Leave(c.Context, w, l.ID, live, false) // much may have changed
		if left(err) {
			continue
		}
		if err != nil {
			return err
		}
		text := "removed branch " + gone.Branch
		if gone.Worktree != "" {
			text += ", worktree " + cmdline.Escape(gone.Worktree)
		}
		cmdline.WriteMessage(c.App.ErrWriter, "", text)
	}
	return nil
}

// removable returns the forks to remove something of, and a table of that.
func removable(c *cli.Context, w *workspace.Workspace, forks []turns.MissionLine, live func(context.Context) ([]turns.Live, error)) (going []turns.MissionLine, table *cmdline.Table, err error) {
	table = cmdline.NewTable(
		cmdline.Column{}, cmdline.Column{}, cmdline.Column{Style: cmdline.Green, Right: true}, cmdline.Column{Style: cmdline.Red, Right: true},
		cmdline.Column{Path: true},
	)
	for _, l := range forks {
		gone, err := missionstore.Leave(c.Context, w, l.ID, live, true)
		if left(err) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		if gone.Branch == "" {
			continue
		}
		insertions, deletions, err := sizeOf(c.Context, w, l)
		if err != nil {
			return nil, nil, err
		}
		going = append(going, l)
		table.Row(string(l.ID), l.Title, fmt.Sprintf("+%d", insertions), fmt.Sprintf("-%d", deletions), gone.Worktree)
	}
	return going, table, nil
}

// left reports whether err says that a fork stays, and warns of it.
func left(err error) bool {
	for _, why := range []error{missionstore.ErrInUse, missionstore.ErrAtWork, missionstore.ErrUnmerged, workspace.ErrUntrusted} {
		if errors.Is(err, why) {
			cmdline.Warn(fmt.Errorf("not removed: %w", err))
			return true
		}
	}
	return false
}

// sizeOf returns a fork's changes since it began, including the user's commits.
func sizeOf(ctx context.Context, w *workspace.Workspace, l turns.MissionLine) (insertions, deletions int, err error) {
	point, err := turns.PointOf(l.Mission)
	if err != nil {
		return 0, 0, err
	}
	branch := w.Branch(l.ID)
	refs, err := w.Repo.Refs(ctx, branch)
	if err != nil {
		return 0, 0, err
	}
	changes, err := gitdiff.Shown(ctx, w.Repo, point.Commit, refs[branch])
	insertions, deletions = count(changes)
	return insertions, deletions, err
}
