package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/handoffstore"
	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/trust"
)

func restore(c *cli.Context) error {
	s, err := open(c)
	if err != nil {
		return err
	}
	if s.Repo.Top == "" {
		return errors.New("a bare repository has no worktree")
	}
	f, err := findIn(c, s)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := trusted(c, s, f); err != nil {
		return err
	}
	by, err := s.By(c.Context, f)
	if err != nil {
		return err
	}
	done, err := s.Restore(c.Context, f, time.Now(), handoffstore.RestorePlan{Foreign: by == trust.Unknown, Dry: c.Bool("dry-run")})
	if err != nil {
		return command.Unrestored(err)
	}
	err = command.PrintRestored(c, "restored handoff "+f.ID().String(), &done.CheckedOut)
	if err != nil || len(done.Conflicts) == 0 {
		return err
	}
	var names []string
	for _, f := range done.Conflicts {
		names = append(names, cmdline.Escape(f.Name))
	}
	err = fmt.Errorf("conflicts in %s", strings.Join(names, ", "))
	if c.Bool("dry-run") {
		return err
	}
	return command.Conflicted(c, err, done.Changes, done.Conflicts)
}
