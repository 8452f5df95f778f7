package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/fetcher"
	"gitagent/internal/git"
	"gitagent/internal/record"
	"gitagent/internal/remote"
)

func fetchCommand() *cli.Command {
	return &cli.Command{
		Name:      "fetch",
		Usage:     "bring missions from a remote",
		UsageText: "git agent-turn fetch [--mission <id> [--accept-purges]] [<remote>]",
		Description: "Brings what is not here, of every mission or of one. A mission that has gone on both here and there becomes two; " +
			"nothing is overwritten, and a branch that is checked out stays where it is. What was purged with a key that you trust goes here as well.",
		Flags: []cli.Flag{
			command.MissionFlag(),
			&cli.BoolFlag{Name: "accept-purges", Usage: "let go what was purged of that mission without a key that you trust"},
		},
		BashComplete: command.First(command.CompleteRemotes),
		Action:       cmdline.OptionalArg("remote", fetch),
	}
}

func fetch(c *cli.Context) error {
	w, err := command.Workspace(c.Context)
	if err != nil {
		return err
	}
	ids, err := namedMission(c, w.Repo)
	if err != nil {
		return err
	}
	name := c.Args().First()
	if name == "" {
		if name, err = usualRemote(c, w.Repo); err != nil {
			return err
		}
	}
	r, err := openRemote(c.Context, w, name)
	if err != nil {
		return err
	}
	if c.Bool("accept-purges") {
		if r.AcceptPurges = ids; len(ids) == 0 { // others may have added to the map since the user was told
			return cmdline.Usagef("fetch --accept-purges needs --mission <id>: the one of which it was said")
		}
	}
	return fetchFrom(c, r, ids)
}

// fetchFrom fetches the missions in ids, or all, and says what has changed.
func fetchFrom(c *cli.Context, r *remote.Remote, ids []record.ID) error {
	if cmdline.IsTerminal(os.Stderr) {
		r.Progress = os.Stderr
	}
	changes, err := fetcher.Fetch(c.Context, r, ids...)
	for _, change := range changes {
		if err := sayChange(c, r, change); err != nil {
			return err
		}
	}
	if err == nil && len(changes) == 0 {
		fmt.Fprintf(c.App.ErrWriter, "nothing new from %s\n", cmdline.Escape(r.Name))
	}
	err = errors.Join(err, fetcher.Left(c.Context, r))
	if locked := (*git.LockedError)(nil); errors.As(err, &locked) {
		return cmdline.Hintf(err, "if no git is running in this repository, remove %s", cmdline.Escape(locked.Path))
	}
	if held := (*fetcher.HeldError)(nil); errors.As(err, &held) && (held.Unknown || held.Whole) {
		return cmdline.Hintf(err, "ask who has purged it, and agree with: git agent-turn fetch --accept-purges --mission %s %s", held.Mission, cmdline.Escape(r.Name))
	}
	if errors.As(err, new(*fetcher.KeptError)) {
		return cmdline.Hint(err, "rewrite commits of yours with git rebase, or drop what you don't need; then: git gc --prune=now")
	}
	return err
}

func usualRemote(c *cli.Context, repo *git.Repo) (string, error) {
	names, err := remote.Names(c.Context, repo)
	if err != nil {
		return "", err
	}
	if len(names) == 0 {
		return "", cmdline.Hint(errors.New("there is no remote"), "add one with: git remote add origin <url>")
	}
	name := remote.Usual(names)
	if name == "" {
		err = cmdline.Usagef("there are several remotes, and none is origin: name one of %s", cmdline.Escape(strings.Join(names, ", ")))
	}
	return name, err
}

func sayChange(c *cli.Context, r *remote.Remote, change fetcher.Change) error {
	if _, err := fmt.Fprintf(c.App.Writer, "%s %s\n", change.Mission, change.Kind); err != nil {
		return err
	}
	switch {
	case change.Of != "" && change.Foreign:
		fmt.Fprintf(c.App.ErrWriter, "mission %[1]s was continued at %[2]s, not signed by a key you trust; what is there is mission %[3]s here; look at it and accept it with: git agent-turn trust accept %[3]s\n",
			change.Of, cmdline.Escape(r.Name), change.Mission)
	case change.Of != "":
		fmt.Fprintf(c.App.ErrWriter, "mission %s has gone on here and at %s; what is there is mission %s here\n", change.Of, cmdline.Escape(r.Name), change.Mission)
	}
	if change.Branch != "" {
		fmt.Fprintln(c.App.ErrWriter, cmdline.OneLine(change.Branch))
	}
	return nil
}
