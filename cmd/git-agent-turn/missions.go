package main

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/ledger"
	"gitagent/internal/target"
	"gitagent/turns"
)

func missions(c *cli.Context) error {
	w, err := target.Workspace(c.Context)
	if err != nil {
		return err
	}
	lines, broken := turns.Missions(c.Context, w.Repo) // the readable ones are shown
	if len(lines) == 0 && broken == nil {
		return cmdline.Hint(cmdline.NotFoundf("no mission has been recorded here"), "switch recording on with: git agent-turn init")
	}
	if c.Bool("json") {
		enc := json.NewEncoder(c.App.Writer)
		enc.SetEscapeHTML(false)
		for _, m := range lines {
			if err := enc.Encode(missionJSON(m)); err != nil {
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
		at := m.Created
		if m.Last != nil {
			at = m.Last.At
		}
		table.Row(string(m.ID), cmdline.Age(now, at), cmdline.Plural(m.Turns, "turn"), strings.TrimPrefix(m.Branch, "refs/heads/"), cmdline.OneLine(m.Title))
	}
	if err := table.Print(c.App.Writer); err != nil {
		return err
	}
	return broken
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
