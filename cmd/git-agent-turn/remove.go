package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/bisect"
	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/config"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/missionstore"
	"gitagent/internal/record"
	"gitagent/internal/remote"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

func removeCommand() *cli.Command {
	return &cli.Command{
		Name:  "remove",
		Usage: "remove missions: worktree, branch, notes and ledger",
		UsageText: "git agent-turn remove [--force] [--dry-run] <mission>\n" +
			"git agent-turn remove --older-than <age> [--dry-run]\n" +
			"git agent-turn remove --older-than <age> --remote [--dry-run | --yes] [<remote>]\n" +
			"git agent-turn remove --all [--force] [--dry-run | --yes]",
		Description: "An age is a number and a unit: 90d, 12w, 6h. With --older-than, " +
			"a mission whose worktree has changes, or is the one the command runs in, stays, " +
			"and so does one whose branch has commits of yours that are in no other branch. " +
			"With --remote they go at that remote as well, after a question; without an argument at every remote that missions may be sent to. " +
			"With --all every mission goes, and all else that git-agent keeps in the repository, after a question. " +
			"Recording must be switched off.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "older-than", Usage: "all whose last turn is older than `<age>`"},
			&cli.BoolFlag{Name: "remote", Usage: "with --older-than, at the remote, too"},
			&cli.BoolFlag{Name: "all", Usage: "all that was recorded here, with everything of git-agent's in this repository"},
			&cli.BoolFlag{Name: "force", Usage: "even if changes that are not committed, or commits of yours, are lost"},
			&cli.BoolFlag{Name: "yes", Usage: "with --all or --remote, don't ask"},
			command.DryRunFlag(),
		},
		BashComplete: command.First(func(c *cli.Context) {
			if c.IsSet("older-than") {
				command.CompleteRemotes(c)
			} else {
				command.CompleteMissions(c)
			}
		}),
		Action: func(c *cli.Context) error {
			old := c.IsSet("older-than")
			switch {
			case old && (c.Bool("all") || c.Bool("force")):
				return cmdline.Usagef("--older-than goes neither with --all nor with --force")
			case old:
				return cmdline.OptionalArg("remote", removeOld)(c)
			case c.Bool("remote"):
				return cmdline.Usagef("--remote needs --older-than <age>")
			case c.Bool("all"):
				return cmdline.NoArgs(removeEverything)(c)
			case c.Bool("yes"):
				return cmdline.Usagef("remove takes --yes only with --all or --remote")
			}
			return cmdline.OneArg("mission", remove)(c)
		},
	}
}

func remove(c *cli.Context) error {
	w, err := command.Workspace(c.Context)
	if err != nil {
		return err
	}
	id, err := command.Named(c.Context, w.Repo, c.Args().First())
	if err != nil {
		return err
	}
	done, err := missionstore.Remove(c.Context, w, id, liveIn(w), c.Bool("force"), c.Bool("dry-run"))
	switch {
	case errors.Is(err, missionstore.ErrAtWork):
		return cmdline.Hint(err, "remove the mission when the turn has ended; see what runs with: git agent-turn missions; --force removes it beneath the agent")
	case errors.Is(err, missionstore.ErrUnseen):
		return cmdline.Hint(err, "remove it where the worktree is, as a user who may look at it, or tell git where that is now: git worktree repair <path>; --force removes the mission without a look at it")
	case errors.Is(err, missionstore.ErrInUse):
		drop := fmt.Sprintf("git agent-turn remove --force %s", id)
		if c.Bool("force") {
			drop = ""
		}
		return command.InUse(c.Context, w, id, drop, err)
	case errors.Is(err, missionstore.ErrUnmerged):
		return cmdline.Hint(err, "merge the branch, pick the commits, or give them another branch with: git branch <name> <commit>; --force drops them")
	case err != nil:
		return command.Missing(err)
	}
	return sayRemoved(c, done)
}

// liveIn returns what finds the live sessions of a repository.
func liveIn(w *workspace.Workspace) func(context.Context) ([]turns.Live, error) {
	return func(ctx context.Context) ([]turns.Live, error) { return command.Live(ctx, w, time.Now()) }
}

func sayRemoved(c *cli.Context, done *missionstore.Removed) error {
	verb := "removed"
	if c.Bool("dry-run") {
		verb = "would remove"
	}
	what := "mission " + string(done.ID)
	if done.Branch != "" {
		what += ", branch " + done.Branch
	}
	if done.Worktree != "" {
		what += ", worktree " + cmdline.Escape(done.Worktree)
	}
	line := verb + " " + what
	if done.Bytes >= 0 {
		line += fmt.Sprintf("; %s to be freed by git gc", cmdline.Size(done.Bytes))
	}
	if len(done.Forks) > 0 {
		var forks []string
		for _, id := range done.Forks {
			forks = append(forks, string(id))
		}
		line += fmt.Sprintf("; what %s inherited stays", strings.Join(forks, ", "))
	}
	_, err := fmt.Fprintln(c.App.Writer, line)
	return err
}

// removeOld removes the missions without a recent event.
func removeOld(c *cli.Context) error {
	if !c.Bool("remote") && (c.NArg() > 0 || c.Bool("yes")) {
		return cmdline.Usagef("with --older-than, a remote and --yes are only for --remote")
	}
	age, err := config.ParseAge(c.String("older-than"))
	if err != nil {
		return cmdline.Usagef("%w", err)
	}
	w, err := command.Workspace(c.Context)
	if err != nil {
		return err
	}
	if !c.Bool("dry-run") {
		bisect.ClearDead(w)
	}
	var remotes []*remote.Remote
	if c.Bool("remote") {
		if remotes, err = pushable(c, w); err != nil {
			return err
		}
	}
	before := time.Now().Add(-age)
	ids, unread := olderThan(c, w, before)
	if unread != nil && !errors.As(unread, new(*ledger.UnreadError)) {
		return unread
	}
	for _, there := range remotes {
		if ids, err = removeAt(c, w, there, ids); err != nil {
			return err
		}
	}
	done, err := removeAll(c, w, ids, c.Bool("dry-run"), sayRemoved)
	if err != nil {
		return err
	}
	removed := len(done) > 0
	archived, err := removeOldArchived(c, w, before)
	if unread = cmp.Or(unread, err); err != nil && !errors.As(err, new(*ledger.UnreadError)) {
		return err
	}
	removed = removed || archived
	if !removed {
		fmt.Fprintf(c.App.ErrWriter, "nothing to remove that is older than %s\n", cmdline.Escape(c.String("older-than")))
	}
	return unread
}

// isOlder reports whether a mission's last turn is known to be before a time.
func isOlder(m turns.MissionLine, before time.Time) bool {
	return m.Newest().Before(before) && (m.Turns == 0 || m.Last != nil)
}

// olderThan returns missions with no turn since a time, the newest first.
func olderThan(c *cli.Context, w *workspace.Workspace, before time.Time) (ids []record.ID, unread error) {
	lines, unread := turns.Missions(c.Context, w.Repo)
	for _, m := range lines {
		if isOlder(m, before) {
			ids = append(ids, m.ID)
		}
	}
	return ids, unread
}

// removeAll removes missions and returns them; if dry, those that it would
// remove. It only warns of missions in use.
func removeAll(c *cli.Context, w *workspace.Workspace, ids []record.ID, dry bool, say func(*cli.Context, *missionstore.Removed) error) (removed []record.ID, err error) {
	for _, id := range ids {
		done, err := missionstore.Remove(c.Context, w, id, liveIn(w), false, dry)
		if errors.Is(err, missionstore.ErrInUse) || errors.Is(err, missionstore.ErrAtWork) || errors.Is(err, missionstore.ErrUnmerged) {
			cmdline.WriteMessage(c.App.ErrWriter, "git-agent-turn: warning: ", cmdline.OneLine(err.Error()))
			continue
		}
		if err == nil {
			err = say(c, done)
		}
		if err != nil {
			return removed, err
		}
		removed = append(removed, id)
	}
	return removed, nil
}

// removeOldArchived removes older archived missions, and reports whether there
// was one. The index gives the candidates, their ledgers decide.
func removeOldArchived(c *cli.Context, w *workspace.Workspace, before time.Time) (removed bool, err error) {
	entries, unread := ledger.ListArchived(c.Context, w.Repo)
	if unread != nil && !errors.As(unread, new(*ledger.UnreadError)) {
		return false, unread
	}
	tips := make(map[record.ID]object.Hash)
	for _, e := range entries {
		if e.Time().Before(before) {
			tips[e.ID] = e.Ledger
		}
	}
	lines, err := turns.Lines(c.Context, w.Repo, tips)
	if err != nil && !errors.As(err, new(*ledger.UnreadError)) {
		return false, err
	}
	unread = cmp.Or(unread, err)
	var ids []record.ID
	for _, m := range lines {
		if isOlder(m, before) {
			ids = append(ids, m.ID)
		}
	}
	done, left, err := missionstore.RemoveArchived(c.Context, w, ids, false, c.Bool("dry-run"))
	if err != nil {
		return false, err
	}
	for _, err := range left {
		cmdline.WriteMessage(c.App.ErrWriter, "git-agent-turn: warning: ", cmdline.OneLine(err.Error()))
	}
	for _, d := range done {
		if err := sayRemoved(c, d); err != nil {
			return true, err
		}
	}
	return len(done) > 0, unread
}
