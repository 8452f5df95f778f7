package main

import (
	"errors"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/git"
)

func gather(c *cli.Context) error {
	if !c.IsSet("exit-type") {
		return cmdline.Usagef("gather needs --exit-type <type>")
	}
	r, err := request(c)
	if err != nil {
		return err
	}
	s, err := open(c)
	if err != nil {
		return err
	}
	err = handOff(c, s, r)
	if errors.Is(err, git.ErrNotFound) {
		return cmdline.Hint(err, "name a mission with --mission <id>; list them with: git agent-turn missions")
	}
	return err
}
