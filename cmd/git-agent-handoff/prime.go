package main

import (
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/recall"
)

func prime(c *cli.Context) error {
	s, f, err := find(c)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := trusted(c, s, f); err != nil {
		return err
	}
	text, err := s.Tell(c.Context, f, time.Now(), func(paths []string) string {
		given, err := recall.GivenUp(c.Context, s.Workspace, paths)
		if err != nil {
			cmdline.Warn(err)
		}
		return given
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(c.App.Writer, cmdline.EscapeLines(text))
	return err
}
