package main

import (
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
)

func prime(c *cli.Context) error {
	s, f, err := find(c)
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
	text, err := s.Tell(c.Context, f, time.Now())
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(c.App.Writer, cmdline.EscapeLines(text))
	return err
}
