package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
)

func restore(c *cli.Context) error {
	s, err := open(c)
	if err != nil {
		return err
	}
	if s.Repo.Top == "" {
		return errors.New("a bare repository has no worktree")
	}
	f, err := find(c, s)
	if err != nil {
		return err
	}
	defer f.Close()
	dry := c.Bool("dry-run")
	done, err := s.Restore(c.Context, f, time.Now(), dry)
	if err != nil {
		return cmdline.Hint(err, "nothing was changed; move away what is in the way, or commit it")
	}
	if dry {
		table := cmdline.NewTable(
			cmdline.Column{Right: true, Style: cmdline.Green},
			cmdline.Column{Right: true, Style: cmdline.Red},
			cmdline.Column{},
		)
		for _, f := range done.Changes {
			table.Row(fmt.Sprintf("+%d", f.Insertions), fmt.Sprintf("-%d", f.Deletions), f.Path)
		}
		if err := table.Print(c.App.Writer); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(c.App.ErrWriter, "restored handoff %s: %s changed; what was there before:\n", f.ID(), cmdline.Plural(len(done.Changes), "file"))
		if _, err := fmt.Fprintln(c.App.Writer, done.Present); err != nil { // empty if there was nothing, not even a commit
			return err
		}
	}
	if len(done.Conflicts) == 0 {
		return nil
	}
	var names []string
	for _, name := range done.Conflicts {
		names = append(names, cmdline.Escape(name))
	}
	return cmdline.Hint(fmt.Errorf("conflicts in %s", strings.Join(names, ", ")),
		"they hold both, between conflict markers; what was there before is in the commit that was printed")
}
