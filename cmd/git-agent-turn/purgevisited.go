package main

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/places"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// sayVisited says which other repositories have records of the turns of sessions
// that are recorded here: a purge does not reach the prompts and replies there.
func sayVisited(c *cli.Context, w *workspace.Workspace) {
	known := places.Of(os.Getenv)
	list, err := known.Repositories()
	if err != nil {
		cmdline.Warn(fmt.Errorf("see where else turns of these sessions are recorded: %w", err))
	}
	own, _ := sessionsIn(c.Context, w) // what can't be read was reported
	for _, common := range list {
		if git.SameFile(common, w.Repo.CommonDir) {
			continue
		}
		var sessions []string
		other, err := workspace.OpenCommon(c.Context, common)
		if err == nil {
			sessions, err = sessionsIn(c.Context, other)
		}
		place := git.DirOf(common)
		switch {
		case slices.ContainsFunc(sessions, func(s string) bool {
			return slices.Contains(own, s) || git.SameFile(known.Home(s), w.Repo.CommonDir)
		}):
			cmdline.WriteMessage(c.App.ErrWriter, "git-agent-turn: warning: ", cmdline.OneLine(fmt.Sprintf(
				"%s has records of the same sessions, with prompts and replies; purge them there, too: %s",
				place, cmdline.Shell([]string{"git", "-C", place, "agent-turn", "purge"})+" ...")))
		case err != nil:
			cmdline.Warn(fmt.Errorf("whether %s has records of these sessions is not known: %w", place, err))
		}
	}
}

// sessionsIn returns the sessions of a repository's missions that can be read.
func sessionsIn(ctx context.Context, w *workspace.Workspace) (sessions []string, err error) {
	tips, err := ledger.ListAll(ctx, w.Repo)
	if err != nil {
		return nil, err
	}
	lines, err := turns.Lines(ctx, w.Repo, tips)
	for _, l := range lines {
		sessions = append(sessions, l.Sessions...)
	}
	return sessions, err
}
