package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/bisect"
	"gitagent/internal/cmdline"
	"gitagent/internal/ledger"
	"gitagent/internal/target"
	"gitagent/turns"
)

func removeCommand() *cli.Command {
	return &cli.Command{
		Name:      "remove",
		Usage:     "remove a mission: worktree, branch, notes and ledger",
		UsageText: "git agent-turn remove [--force] [--dry-run] <mission>",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "force", Usage: "even if changes that are not committed, or commits of yours, are lost"},
			target.DryRunFlag(),
		},
		BashComplete: target.First(target.CompleteMissions),
		Action:       cmdline.OneArg("mission", remove),
	}
}

func remove(c *cli.Context) error {
	w, err := target.Workspace(c.Context)
	if err != nil {
		return err
	}
	id, err := target.Named(c.Context, w.Repo, c.Args().First())
	if err != nil {
		return err
	}
	r := &turns.Recorder{Workspace: w}
	done, err := r.Remove(c.Context, id, c.Bool("force"), c.Bool("dry-run"))
	switch {
	case errors.Is(err, turns.ErrInUse):
		return cmdline.Hint(err, "commit or drop the changes, or switch that worktree to another branch; --force drops them")
	case errors.Is(err, turns.ErrUnmerged):
		return cmdline.Hint(err, "merge the branch, pick the commits, or give them another branch with: git branch <name> <commit>; --force drops them")
	case err != nil:
		return target.Missing(err)
	}
	return sayRemoved(c, done)
}

func sayRemoved(c *cli.Context, done *turns.Removed) error {
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
		line += fmt.Sprintf("; what %v inherited stays", done.Forks)
	}
	_, err := fmt.Fprintln(c.App.Writer, line)
	return err
}

func pruneCommand() *cli.Command {
	return &cli.Command{
		Name:      "prune",
		Usage:     "remove the missions that nothing has happened in for long",
		UsageText: "git agent-turn prune --older-than <age> [--dry-run]",
		Description: "An age is a number and a unit: 90d, 12w, 6h. " +
			"A mission whose worktree has changes, or is the one the command runs in, stays, " +
			"and so does one whose branch has commits of yours that are in no other branch.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "older-than", Usage: "whose last turn is older than `<age>`"},
			target.DryRunFlag(),
		},
		Action: cmdline.NoArgs(prune),
	}
}

func prune(c *cli.Context) error {
	if !c.IsSet("older-than") {
		return cmdline.Usagef("prune needs --older-than <age>")
	}
	age, err := parseAge(c.String("older-than"))
	if err != nil {
		return cmdline.Usagef("%w", err)
	}
	w, err := target.Workspace(c.Context)
	if err != nil {
		return err
	}
	if !c.Bool("dry-run") {
		bisect.ClearDead(w)
	}
	r := &turns.Recorder{Workspace: w}
	lines, unread := turns.Missions(c.Context, r.Repo)
	if unread != nil && !errors.As(unread, new(*ledger.UnreadError)) {
		return unread
	}
	before, removed := time.Now().Add(-age), false
	for _, m := range lines {
		if !m.Newest().Before(before) || m.Turns > 0 && m.Last == nil { // nobody knows how old that is
			continue
		}
		done, err := r.Remove(c.Context, m.ID, false, c.Bool("dry-run"))
		if errors.Is(err, turns.ErrInUse) || errors.Is(err, turns.ErrUnmerged) {
			fmt.Fprintf(c.App.ErrWriter, "git-agent-turn: warning: %s\n", cmdline.OneLine(err.Error()))
			continue
		}
		if err != nil {
			return err
		}
		if err := sayRemoved(c, done); err != nil {
			return err
		}
		removed = true
	}
	if !removed {
		fmt.Fprintf(c.App.ErrWriter, "nothing to remove that is older than %s\n", cmdline.Escape(c.String("older-than")))
	}
	return unread
}

// parseAge reads a number with a unit: hours, days or weeks.
func parseAge(s string) (time.Duration, error) {
	for unit, d := range map[string]time.Duration{"h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
		if number, ok := strings.CutSuffix(s, unit); ok {
			if n, err := strconv.Atoi(number); err == nil && n >= 0 && n < 100_000 {
				return time.Duration(n) * d, nil
			}
		}
	}
	return 0, fmt.Errorf("age %q: it is a number and one of h, d, w", s)
}
