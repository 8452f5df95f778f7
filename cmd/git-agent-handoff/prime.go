package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/handoffstore"
	"gitagent/internal/cmdline"
	"gitagent/internal/git"
)

func primeCommand() *cli.Command {
	return &cli.Command{
		Name:         "prime",
		Usage:        "print what the next session is told",
		ArgsUsage:    "[<handoff>]",
		UsageText:    "git agent-handoff prime [--mission <id>] [<handoff>]",
		Description:  "It has at most 9,000 characters, the essential first. A stranger's handoff has to be accepted first.",
		Flags:        []cli.Flag{missionFlag()},
		BashComplete: completeHandoffs,
		Action:       prime,
	}
}

func prime(c *cli.Context) error {
	s, err := open(c)
	if err != nil {
		return err
	}
	f, err := find(c, s)
	if err != nil {
		return err
	}
	defer f.Close()
	trusted, err := s.Trusted(c.Context, f)
	if err != nil {
		return err
	}
	if !trusted {
		return cmdline.Hintf(fmt.Errorf("handoff %s was made by another committer", f.ID()),
			"look at it and accept it with: git agent-handoff show %[1]s, git agent-handoff accept %[1]s", f.ID())
	}
	text, err := primed(c.Context, f, s.Repo, time.Now())
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(c.App.Writer, cmdline.EscapeLines(text))
	return err
}

// primed renders a handoff for a session that starts in the worktree of repo.
func primed(ctx context.Context, f *handoffstore.Found, repo *git.Repo, at time.Time) (string, error) {
	document, err := f.Document()
	if err != nil {
		return "", err
	}
	objects := repo.Objects(ctx)
	defer objects.Close()
	return handoffstore.Prime(f.Handoff, document, handoffstore.Here{
		Now:    at,
		Commit: func(h git.Hex) bool { return objects.HasEncodedObject(h.Hash()) == nil },
		File: func(path string) bool {
			_, err := os.Lstat(filepath.Join(repo.Top, filepath.FromSlash(path)))
			return err == nil || path != f.Source && !f.Kept(path) // the session has deleted it
		},
	}), nil
}
