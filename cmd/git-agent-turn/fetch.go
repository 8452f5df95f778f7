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
	"gitagent/internal/power"
	"gitagent/internal/purge"
	"gitagent/internal/record"
	"gitagent/internal/remote"
	"gitagent/internal/workspace"
)

func fetchCommand() *cli.Command {
	return &cli.Command{
		Name:  "fetch",
		Usage: "bring missions from a remote",
		UsageText: "git agent-turn fetch [--mission <id> [--accept-purges]] [<remote>]\n" +
			"git agent-turn fetch --dry-run",
		Description: "Brings what is not here, of every mission or of one. A mission that has gone on both here and there becomes two; " +
			"nothing is overwritten, and a branch that is checked out stays where it is. What was purged with a key that you trust goes here as well, if that is little: " +
			"on a terminal you are asked about the rest, which stays as it is, and is sent nowhere, until then.",
		Flags: []cli.Flag{
			command.MissionFlag(),
			&cli.BoolFlag{Name: "accept-purges", Usage: "also ask about what was purged of that mission without a key that you trust"},
			&cli.BoolFlag{Name: "dry-run", Aliases: []string{"n"}, Usage: "fetch nothing: only say which purges of others wait for you to decide"},
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
	if c.Bool("dry-run") {
		if c.Bool("accept-purges") || c.IsSet("mission") || c.Args().Present() {
			return cmdline.Usagef("fetch --dry-run takes nothing else")
		}
		return sayWaiting(c, w)
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
		if len(ids) == 0 { // others may have added to the map since the user was told
			return cmdline.Usagef("fetch --accept-purges needs --mission <id>: the one of which it was said")
		}
		if err := purge.Keep(c.Context, w.Store, ids, false); err != nil {
			return err
		}
		if purge.IsHeld(w.Store, ids[0]) {
			ids = nil // it may be gone there
		}
	}
	return fetchFrom(c, r, ids)
}

// sayWaiting says which purges of others wait for a decision.
func sayWaiting(c *cli.Context, w *workspace.Workspace) error {
	held, err := purge.AllHeld(w.Store)
	if err != nil {
		return err
	}
	if len(held) == 0 {
		fmt.Fprintln(c.App.ErrWriter, "no purge of others waits for you to decide")
	}
	for i := range held {
		h := &held[i]
		if len(h.Missions) > 0 && h.Missions[0] != h.Mission {
			continue // it is said with the first one
		}
		line := fetcher.Asks(h)
		if h.Kept {
			line += fmt.Sprintf("; you keep it: git agent-turn fetch --accept-purges --mission %s asks again", h.Mission)
		}
		if _, err := fmt.Fprintln(c.App.Writer, cmdline.OneLine(line)); err != nil {
			return err
		}
	}
	return nil
}

// fetchFrom fetches the missions in ids, or all, says what has changed, and asks
// about purges of others that need a person's consent.
func fetchFrom(c *cli.Context, r *remote.Remote, ids []record.ID) error {
	if cmdline.IsTerminal(os.Stderr) {
		r.Progress = os.Stderr
	}
	r.Warn = func(text string) { cmdline.Warn(errors.New(text)) }
	some, err := fetchOnce(c, r, ids)
	decided, err := agree(c, r, err)
	if decided {
		_, err = fetchOnce(c, r, ids)
	} else if err == nil && !some {
		fmt.Fprintf(c.App.ErrWriter, "nothing new from %s\n", cmdline.Escape(r.Name))
	}
	err = errors.Join(err, fetcher.Left(c.Context, r))
	if err := begun(r.Workspace, err); purge.Unfinished(r.Workspace.Store) {
		return err
	}
	if locked := (*git.LockedError)(nil); errors.As(err, &locked) {
		return cmdline.Hintf(err, "if no git is running in this repository, remove %s", cmdline.Escape(locked.Path))
	}
	if held := (*fetcher.HeldError)(nil); errors.As(err, &held) {
		switch {
		case held.Asks != nil:
			return cmdline.Hintf(err, "ask who has purged it, and decide on a terminal of your own: git agent-turn fetch %s", cmdline.Escape(r.Name))
		case held.Unknown || held.Whole:
			return cmdline.Hintf(err, "ask who has purged it, and agree with: git agent-turn fetch --accept-purges --mission %s %s", held.Mission, cmdline.Escape(r.Name))
		}
	}
	if errors.As(err, new(*fetcher.KeptError)) {
		return cmdline.Hint(err, "rewrite commits of yours with git rebase, or drop what you don't need; then: git gc --prune=now")
	}
	return err
}

func fetchOnce(c *cli.Context, r *remote.Remote, ids []record.ID) (some bool, err error) {
	changes, err := fetcher.Fetch(c.Context, r, ids...)
	for _, change := range changes {
		if err := sayChange(c, r, change); err != nil {
			return true, err
		}
	}
	return len(changes) > 0, err
}

// agree asks a person about each purge that an error of a fetch says is held,
// if there is one, and reports whether they decided about any.
func agree(c *cli.Context, r *remote.Remote, err error) (decided bool, _ error) {
	if power.Of(command.Actor(c.Context), power.Trust, power.Clone) != power.Asked {
		return false, err
	}
	for _, held := range fetcher.HeldIn(err) {
		missions := []record.ID{held.Mission}
		switch {
		case held.Asks != nil:
			missions = held.Asks.Missions
		case !c.Bool("accept-purges") || !held.Unknown && !held.Whole:
			continue
		}
		fmt.Fprintln(c.App.ErrWriter, cmdline.OneLine(held.Error()))
		answers := []string{"yes", "no"}
		if held.Asks != nil {
			answers = []string{"yes", "keep", "no"} // who keeps it is not asked again
		}
		answer, asking := cmdline.Ask(c.Context, "Let it go here, too? This can't be undone.", answers...)
		switch {
		case asking != nil:
			return false, asking
		case answer == "yes":
			r.AcceptPurges, decided = append(r.AcceptPurges, missions...), true
		case answer == "keep":
			if err := purge.Keep(c.Context, r.Workspace.Store, missions, true); err != nil {
				return false, err
			}
			decided = true
			fmt.Fprintln(c.App.ErrWriter, "it stays as it is, and is sent nowhere; you are not asked about it again")
		}
	}
	return decided, err
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
