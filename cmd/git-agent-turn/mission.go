package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/hooks"
	"gitagent/internal/cmdline"
	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/session"
)

// missionFlag names a mission; without it the commands find the current one.
func missionFlag() cli.Flag {
	return &cli.StringFlag{Name: "mission", Usage: "of the mission `<id>`"}
}

func agentFlag() cli.Flag {
	return &cli.StringFlag{Name: "agent", Usage: "the agent is `<name>`: claude, codex or opencode", Value: "claude"}
}

func jsonFlag() cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "print one JSON object per line"}
}

// openRepo finds the repository of the current directory.
func openRepo(ctx context.Context) (*git.Repo, error) {
	repo, err := git.Open(ctx)
	if errors.Is(err, git.ErrNotFound) {
		return nil, cmdline.Hint(errors.New("not in a git repository"), "change into one, or name it with -C <dir>")
	}
	return repo, err
}

// settings are the user's and the repository's. Unlike a hook, a command insists on all of it being right.
func settings(repo *git.Repo) (*config.Config, error) {
	return config.Load(config.UserPath(), filepath.Join(repo.Top, config.RepoFile))
}

// currentMission is the mission that a command works on, if the command line does not say: that of the
// branch, that of the session whose agent runs the command, and last the one that was
// recorded last in this worktree, which is said on standard error.
// It is empty if there is none.
func currentMission(c *cli.Context, repo *git.Repo, prefix string) (ledger.ID, error) {
	if c.IsSet("mission") {
		id, err := ledger.ParseID(c.String("mission"))
		if err != nil {
			return "", cmdline.Usagef("%w", err)
		}
		return id, nil
	}
	branch, err := repo.HeadRef(c.Context)
	if err != nil {
		return "", err
	}
	if branch == "" {
		branch = repo.RebasedBranch()
	}
	if id, ok := ledger.OfBranch(branch, prefix); ok {
		return id, nil
	}
	store := session.Open(repo.CommonDir)
	if id := hooks.ReadClient(os.Getenv).SessionID; id != "" {
		if m, err := ledger.ParseID(store.Load(id).Mission); err == nil {
			return m, nil
		}
	}
	var last *session.State
	for _, st := range store.All() {
		if st.Worktree == repo.GitDir && st.Mission != "" && (last == nil || st.Seen.After(last.Seen)) {
			last = st
		}
	}
	if last != nil {
		fmt.Fprintf(c.App.ErrWriter, "mission %s\n", cmdline.Escape(last.Mission))
		return ledger.ParseID(last.Mission)
	}
	return onlyMission(c.Context, repo)
}

// onlyMission is for a clone without local state: the mission, if there is just one.
func onlyMission(ctx context.Context, repo *git.Repo) (ledger.ID, error) {
	missions, err := ledger.List(ctx, repo)
	if err != nil || len(missions) != 1 {
		return "", err
	}
	for id := range missions {
		return id, nil
	}
	return "", nil
}

// age says how long ago something was, in one unit: `12m`.
func age(now, then time.Time) string {
	d := now.Sub(then)
	switch {
	case then.IsZero():
		return ""
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(0, int(d/time.Second)))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d/time.Minute))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d/time.Hour))
	case d < 60*24*time.Hour:
		return fmt.Sprintf("%dd", int(d/(24*time.Hour)))
	case d < 2*365*24*time.Hour:
		return fmt.Sprintf("%dmo", int(d/(30*24*time.Hour)))
	}
	return fmt.Sprintf("%dy", int(d/(365*24*time.Hour)))
}

// noMission says that there is nothing to work on.
func noMission() error {
	return cmdline.Hint(cmdline.NotFoundf("no turn has been recorded in this worktree"),
		"name a mission with --mission <id>; list them with: git agent-turn missions")
}
