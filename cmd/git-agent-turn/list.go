package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/ledger"
	"gitagent/internal/target"
	"gitagent/internal/trust"
	"gitagent/turns"
)

func list(c *cli.Context) error {
	if c.Bool("all") && c.IsSet("mission") {
		return cmdline.Usagef("--all and --mission exclude each other")
	}
	w, err := target.Workspace(c.Context)
	if err != nil {
		return err
	}
	var missions []ledger.ID
	var unread ledger.Unread
	if c.Bool("all") {
		lines, err := turns.Missions(c.Context, w.Repo)
		if err != nil && !errors.As(err, new(*ledger.UnreadError)) {
			return err
		}
		unread.Add(err)
		for _, m := range lines {
			missions = append(missions, m.ID)
		}
	} else {
		id, err := target.Mission(c.Context, w, c.String("mission"), c.App.ErrWriter)
		if err != nil {
			return err
		}
		if id == "" {
			return target.NoMission()
		}
		missions = append(missions, id)
	}
	all, now := c.Bool("all"), time.Now()
	table := cmdline.NewTable(
		cmdline.Column{Right: !all, Style: cmdline.Yellow},
		cmdline.Column{Right: true, Style: cmdline.Dim},
		cmdline.Column{Right: true, Style: cmdline.Green},
		cmdline.Column{Right: true, Style: cmdline.Red},
		cmdline.Column{Style: cmdline.Cyan},
		cmdline.Column{},
	)
	lines, roll := bufio.NewWriter(c.App.Writer), turns.Roll{Workspace: w}
	var written error // nobody may be reading any more
	for _, id := range missions {
		err := turns.Each(c.Context, w.Repo, id, func(t *turns.Turn) error {
			by, err := roll.By(c.Context, t)
			if err != nil {
				return err
			}
			if c.Bool("json") {
				written = cmdline.PrintLine(lines, t, by)
			} else {
				written = table.Add(c.App.Writer, row(t, now, all, by)...)
			}
			return written
		})
		if err := cmp.Or(written, c.Context.Err()); err != nil {
			return err
		}
		if errors.As(err, new(*turns.MissingError)) {
			return target.Missing(err)
		}
		unread.Add(err)
	}
	return cmp.Or(lines.Flush(), table.Print(c.App.Writer), unread.Err()) // one of the first two is empty
}

// row is a turn's row of the table; named in full if all missions are listed, and with who recorded
// it if that was not in this clone.
func row(t *turns.Turn, now time.Time, all bool, by string) []string {
	name := strconv.Itoa(t.Turn)
	if all {
		name = t.ID().String()
	}
	paths := ""
	if len(t.Paths) > 0 {
		paths = t.Paths[0]
		if t.Files > 1 {
			paths += fmt.Sprintf(" +%d", t.Files-1)
		}
	}
	prompt := cmdline.OneLine(t.Prompt)
	if t.Outcome != turns.Done {
		prompt = "(" + string(t.Outcome) + ") " + prompt
	}
	if by != trust.Clone {
		prompt = "[" + by + "] " + prompt
	}
	return []string{name, cmdline.Age(now, t.At), fmt.Sprintf("+%d", t.Insertions), fmt.Sprintf("-%d", t.Deletions), paths, prompt}
}
