package main

import (
	"errors"

	"github.com/urfave/cli/v2"

	"gitagent/handoffstore"
	"gitagent/internal/cmdline"
)

func accept(c *cli.Context) error {
	if c.NArg() == 0 {
		return cmdline.Usagef("accept takes one handoff, not 0")
	}
	s, f, err := find(c)
	if err != nil {
		return err
	}
	defer f.Close()
	err = s.Accept(f)
	if errors.Is(err, handoffstore.ErrNotShown) {
		return cmdline.Hintf(err, "look at it with: git agent-handoff show %s", f.ID())
	}
	return err
}
