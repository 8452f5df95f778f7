package main

import (
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

// sayVisited says which repositories have records of turns whose conversation is
// here: a purge does not reach the prompts and replies there.
func sayVisited(c *cli.Context, w *workspace.Workspace) {
	known := places.Of(os.Getenv)
	list, err := known.Repositories()
	if err != nil {
		cmdline.Warn(fmt.Errorf("see where else turns of these sessions are recorded: %w", err))
	}
	own := make(map[string]bool)
	if tips, err := ledger.ListAll(c.Context, w.Repo); err == nil {
		lines, _ := turns.Lines(c.Context, w.Repo, tips) // what can't be read was reported
		for _, l := range lines {
			for _, session := range l.Sessions {
				own[session] = true
			}
		}
	}
	for _, common := range list {
		if git.SameFile(common, w.Repo.CommonDir) {
			continue
		}
		visited, err := turns.OpenPlace(c.Context, common)
		var lines []turns.MissionLine
		if err == nil {
			tips, e := ledger.ListAll(c.Context, visited.Repo)
			if err = e; err == nil {
				lines, err = turns.Lines(c.Context, visited.Repo, tips)
			}
		}
		place := turns.Place(common)
		switch {
		case slices.ContainsFunc(lines, func(l turns.MissionLine) bool {
			return slices.ContainsFunc(l.Sessions, func(s string) bool { return own[s] || git.SameFile(known.Home(s), w.Repo.CommonDir) })
		}):
			cmdline.WriteMessage(c.App.ErrWriter, "git-agent-turn: warning: ", cmdline.OneLine(fmt.Sprintf(
				"%s has records of turns whose conversation is here, with prompts and replies; purge them there, too: %s",
				place, cmdline.Shell([]string{"git", "-C", place, "agent-turn", "purge"})+" ...")))
		case err != nil:
			cmdline.Warn(fmt.Errorf("whether %s has records of these turns is not known: %w", place, err))
		}
	}
}
