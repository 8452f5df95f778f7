package main

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"gitagent/internal/record"
)

// tree lists missions and, below each, its forks.
func tree(c *cli.Context) error {
	lines, err := readMissions(c, true)
	if lines == nil {
		return err
	}
	known := make(map[record.ID]bool)
	for _, m := range lines.list {
		known[m.ID] = true
	}
	forks := make(map[record.ID][]int)
	var roots []int
	for i, m := range lines.list {
		if m.ForkedFrom != nil && known[m.ForkedFrom.Mission] && m.ForkedFrom.Mission != m.ID {
			forks[m.ForkedFrom.Mission] = append(forks[m.ForkedFrom.Mission], i)
		} else {
			roots = append(roots, i) // a fork's source may have been removed
		}
	}
	for _, of := range forks {
		slices.SortFunc(of, func(a, b int) int { return lines.list[a].ByBirth(lines.list[b]) })
	}
	table := newMissionTable()
	out := bufio.NewWriterSize(c.App.Writer, 1<<16)
	drawn := make(map[record.ID]bool) // mission.json may be untrusted, and two may name each other
	var draw func(i, depth int) error
	draw = func(i, depth int) error {
		m := lines.list[i]
		if drawn[m.ID] {
			return nil
		}
		drawn[m.ID] = true
		if c.Bool("json") {
			if err := printObject(c, out, lines.branchJSON(i, depth)); err != nil {
				return err
			}
		} else {
			table.Row(lines.row(i, indent(depth)+string(m.ID))...)
		}
		for _, f := range forks[m.ID] {
			if err := draw(f, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	for i := range lines.list {
		roots = append(roots, i) // a cycle of missions has no root
	}
	for _, i := range roots {
		if err := draw(i, 0); err != nil {
			return err
		}
	}
	return cmp.Or(out.Flush(), table.Print(c.App.Writer), err)
}

func (l *missionLines) branchJSON(i, depth int) any {
	line := struct {
		missionJSON
		Depth  int       `json:"depth"`
		Parent record.ID `json:"parent,omitempty"` // the mission above it
	}{missionJSON: l.json(i), Depth: depth}
	if depth > 0 {
		line.Parent = l.list[i].ForkedFrom.Mission
	}
	return line
}

// maxIndent bounds indentation: anyone who can push can nest thousands.
const maxIndent = 16

// indent returns a fork's indentation; beyond maxIndent, also its depth.
func indent(depth int) string {
	if depth <= maxIndent {
		return strings.Repeat("  ", depth)
	}
	return strings.Repeat("  ", maxIndent) + fmt.Sprintf("(%d) ", depth)
}
