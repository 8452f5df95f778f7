package main

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/ledger"
	"gitagent/internal/target"
	"gitagent/internal/trust"
	"gitagent/turns"
)

func missions(c *cli.Context) error {
	lines, by, broken := readMissions(c)
	if c.Bool("json") {
		for i, m := range lines {
			if err := cmdline.PrintJSON(c.App.Writer, missionJSON(m, by[i])); err != nil {
				return err
			}
		}
		return broken
	}
	table := cmdline.NewTable(
		cmdline.Column{Style: cmdline.Yellow},
		cmdline.Column{Right: true, Style: cmdline.Dim},
		cmdline.Column{Right: true},
		cmdline.Column{Style: cmdline.Dim},
		cmdline.Column{Style: cmdline.Cyan},
		cmdline.Column{},
	)
	now := time.Now()
	for i, m := range lines {
		table.Row(string(m.ID), cmdline.Age(now, m.Newest()), cmdline.Plural(m.Turns, "turn"), by[i],
			strings.TrimPrefix(m.Branch, "refs/heads/"), cmdline.OneLine(m.Title))
	}
	return cmp.Or(table.Print(c.App.Writer), broken)
}

// readMissions returns the missions that can be read, and for each who wrote its newest event. That
// there are none is an error, too.
func readMissions(c *cli.Context) (lines []turns.Line, by []string, err error) {
	w, err := target.Workspace(c.Context)
	if err != nil {
		return nil, nil, err
	}
	lines, err = turns.Missions(c.Context, w.Repo)
	if len(lines) == 0 && err == nil {
		err = cmdline.Hint(cmdline.NotFoundf("no mission has been recorded here"), "switch recording on with: git agent-turn init")
	}
	objects := w.Repo.Objects(c.Context)
	defer objects.Close()
	by = make([]string, len(lines))
	for i, m := range lines {
		s, unread := w.Standing(c.Context, objects, m.ID, m.Tip)
		if by[i] = s.By; unread != nil {
			by[i], err = trust.Unknown, cmp.Or(err, unread)
		}
	}
	return lines, by, err
}

// missionJSON is a mission's line of JSON: its mission.json, where it stands, and who wrote that.
func missionJSON(m turns.Line, by string) any {
	line := struct {
		*ledger.Mission
		Turns int       `json:"turns"`
		At    time.Time `json:"at,omitzero"` // of the last turn
		By    string    `json:"by"`
	}{Mission: m.Mission, Turns: m.Turns, By: by}
	if m.Last != nil {
		line.At = m.Last.At
	}
	return line
}

func tree(c *cli.Context) error {
	lines, by, broken := readMissions(c)
	writers := make(map[ledger.ID]string)
	known := make(map[ledger.ID]bool)
	forks := make(map[ledger.ID][]turns.Line)
	var roots []turns.Line
	for i, m := range lines {
		known[m.ID], writers[m.ID] = true, by[i]
	}
	for _, m := range lines {
		if m.ForkedFrom != nil && known[m.ForkedFrom.Mission] && m.ForkedFrom.Mission != m.ID {
			forks[m.ForkedFrom.Mission] = append(forks[m.ForkedFrom.Mission], m)
		} else {
			roots = append(roots, m) // the source of a fork may have been removed
		}
	}
	table := cmdline.NewTable(
		cmdline.Column{Style: cmdline.Yellow},
		cmdline.Column{Right: true},
		cmdline.Column{Right: true, Style: cmdline.Dim},
		cmdline.Column{Style: cmdline.Dim},
		cmdline.Column{Style: cmdline.Cyan},
		cmdline.Column{},
	)
	now := time.Now()
	drawn := make(map[ledger.ID]bool) // mission.json may be a stranger's, and two may name each other
	var draw func(m turns.Line, depth int)
	draw = func(m turns.Line, depth int) {
		if drawn[m.ID] {
			return
		}
		drawn[m.ID] = true
		name := string(m.ID)
		switch {
		case m.ForkedFrom == nil:
		case depth > 0:
			name += " from " + strconv.Itoa(m.ForkedFrom.Turn)
		default:
			name += " from " + m.ForkedFrom.String() // the source is not in the tree
		}
		table.Row(indent(depth)+name, cmdline.Plural(m.Turns, "turn"), cmdline.Age(now, m.Newest()), writers[m.ID],
			strings.TrimPrefix(m.Branch, "refs/heads/"), cmdline.OneLine(m.Title))
		for _, f := range forks[m.ID] {
			draw(f, depth+1)
		}
	}
	for _, m := range append(roots, lines...) {
		draw(m, 0)
	}
	return cmp.Or(table.Print(c.App.Writer), broken)
}

// maxIndent is how deep forks of forks are indented: whoever can push can make thousands.
const maxIndent = 16

// indent is what stands before a fork; beyond the deepest indentation, its depth.
func indent(depth int) string {
	if depth <= maxIndent {
		return strings.Repeat("  ", depth)
	}
	return strings.Repeat("  ", maxIndent) + fmt.Sprintf("(%d) ", depth)
}
