package main

import (
	"cmp"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/ledger"
	"gitagent/internal/target"
	"gitagent/turns"
)

func missions(c *cli.Context) error {
	lines, broken := readMissions(c)
	if c.Bool("json") {
		for _, m := range lines {
			if err := cmdline.PrintJSON(c.App.Writer, missionJSON(m)); err != nil {
				return err
			}
		}
		return broken
	}
	table := cmdline.NewTable(
		cmdline.Column{Style: cmdline.Yellow},
		cmdline.Column{Right: true, Style: cmdline.Dim},
		cmdline.Column{Right: true},
		cmdline.Column{Style: cmdline.Cyan},
		cmdline.Column{},
	)
	now := time.Now()
	for _, m := range lines {
		table.Row(string(m.ID), cmdline.Age(now, m.Newest()), cmdline.Plural(m.Turns, "turn"), strings.TrimPrefix(m.Branch, "refs/heads/"), cmdline.OneLine(m.Title))
	}
	return cmp.Or(table.Print(c.App.Writer), broken)
}

// readMissions returns the missions of the repository, as far as they can be read; it is an error,
// too, if there are none.
func readMissions(c *cli.Context) ([]turns.Line, error) {
	w, err := target.Workspace(c.Context)
	if err != nil {
		return nil, err
	}
	lines, err := turns.Missions(c.Context, w.Repo)
	if len(lines) == 0 && err == nil {
		err = cmdline.Hint(cmdline.NotFoundf("no mission has been recorded here"), "switch recording on with: git agent-turn init")
	}
	return lines, err
}

// missionJSON is a mission's line of JSON: its mission.json, and where it stands.
func missionJSON(m turns.Line) any {
	line := struct {
		*ledger.Mission
		Turns int       `json:"turns"`
		At    time.Time `json:"at,omitzero"` // of the last turn
	}{Mission: m.Mission, Turns: m.Turns}
	if m.Last != nil {
		line.At = m.Last.At
	}
	return line
}
