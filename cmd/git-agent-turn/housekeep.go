package main

import (
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/git"
	"gitagent/internal/session"
	"gitagent/internal/terminal"
)

// keepSessions is how long the local state of a session is kept after its last event.
const keepSessions = 90 * 24 * time.Hour

func housekeepCommand() *cli.Command {
	return &cli.Command{
		Name:   "housekeep",
		Usage:  "roll up small packs and forget old sessions; started by the hooks",
		Hidden: true,
		Action: cmdline.NoArgs(keepHouse),
	}
}

// keepHouse is the command that [housekeep] starts.
func keepHouse(c *cli.Context) error {
	repo, err := git.Find(".")
	if err == nil {
		err = repo.Trusted(c.Context)
	}
	if err != nil {
		return err
	}
	store := session.Open(repo.CommonDir)
	if err := repo.RollUp(c.Context); err != nil {
		store.Log(time.Now(), err.Error())
		return err
	}
	return store.Prune(time.Now().Add(-keepSessions))
}

// housekeep starts, every 20 turns, a process that keeps the packs few. Nobody waits for it.
func housekeep(repo *git.Repo) error {
	if !repo.RollUpDue() {
		return nil
	}
	return terminal.DetachOwn(repo.Top, "git-agent-turn", "housekeep")
}
