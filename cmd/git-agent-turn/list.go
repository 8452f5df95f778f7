package main

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/ledger"
	"gitagent/internal/target"
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
	if c.Bool("all") {
		lines, err := turns.Missions(c.Context, w.Repo)
		if err != nil {
			return err
		}
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
	printer := newTurnPrinter(c)
	for _, id := range missions {
		recorded, err := turns.List(c.Context, w.Repo, id)
		if err != nil {
			return target.Missing(err)
		}
		for i := len(recorded) - 1; i >= 0; i-- {
			if err := printer.add(recorded[i]); err != nil {
				return err
			}
		}
	}
	return printer.print()
}

// A turnPrinter prints turns as a table, or as JSON lines.
type turnPrinter struct {
	out   *bufio.Writer
	table *cmdline.Table
	to    io.Writer
	now   time.Time
	all   bool
}

func newTurnPrinter(c *cli.Context) *turnPrinter {
	p := &turnPrinter{out: bufio.NewWriter(c.App.Writer), to: c.App.Writer, now: time.Now(), all: c.Bool("all")}
	if !c.Bool("json") {
		p.table = cmdline.NewTable(
			cmdline.Column{Right: !p.all, Style: cmdline.Yellow},
			cmdline.Column{Right: true, Style: cmdline.Dim},
			cmdline.Column{Right: true, Style: cmdline.Green},
			cmdline.Column{Right: true, Style: cmdline.Red},
			cmdline.Column{Style: cmdline.Cyan},
			cmdline.Column{},
		)
	}
	return p
}

func (p *turnPrinter) add(t *turns.Turn) error {
	if p.table == nil {
		return writeJSON(p.out, t)
	}
	name := strconv.Itoa(t.Turn)
	if p.all {
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
	p.table.Row(name, cmdline.Age(p.now, t.At), fmt.Sprintf("+%d", t.Insertions), fmt.Sprintf("-%d", t.Deletions), paths, prompt)
	return nil
}

func (p *turnPrinter) print() error {
	if p.table == nil {
		return p.out.Flush()
	}
	return p.table.Print(p.to)
}

// writeJSON writes a turn as one line.
func writeJSON(w io.Writer, t *turns.Turn) error {
	line, err := t.Line()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", line)
	return err
}
