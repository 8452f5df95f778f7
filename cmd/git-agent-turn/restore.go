package main

import (
	"fmt"
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
	r := &turns.Recorder{Workspace: w}
	dry := c.Bool("dry-run")
	done, err := r.Restore(c.Context, time.Now(), t, dry)
	if err != nil {
		return cmdline.Hint(err, "nothing was changed; move away what is in the way, or commit it")
	}
	if !dry {
		fmt.Fprintf(c.App.ErrWriter, "restored turn %s: %s changed; what was there before:\n", t.ID(), cmdline.Plural(len(done.Changes), "file"))
		_, err = fmt.Fprintln(c.App.Writer, done.Present)
		return err
	}
	table := cmdline.NewTable(
		cmdline.Column{Right: true, Style: cmdline.Green},
		cmdline.Column{Right: true, Style: cmdline.Red},
		cmdline.Column{},
	)
	for _, f := range done.Changes {
		table.Row(fmt.Sprintf("+%d", f.Insertions), fmt.Sprintf("-%d", f.Deletions), f.Path)
	}
	return table.Print(c.App.Writer)
}
