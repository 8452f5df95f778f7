package main

import (
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/target"
	"gitagent/turns"
)

func restore(c *cli.Context) error {
	w, err := target.Checkout(c.Context, "restore")
	if err != nil {
		return err
	}
	t, err := findTurn(c, w, 0)
	if err != nil {
		return err
	}
	t, foreign, err := target.Usable(c, w, t)
	if err != nil {
		return err
	}
	r := &turns.Recorder{Workspace: w}
	done, err := r.Restore(c.Context, time.Now(), t, turns.Checkout{Foreign: foreign, Dry: c.Bool("dry-run")})
	if err != nil {
		return cmdline.Hint(err, "nothing was changed; move away what is in the way, or commit it")
	}
	return target.PrintRestored(c, "turn "+t.ID().String(), done.Changes, done.Present)
}
