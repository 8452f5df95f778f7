package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"gitagent/internal/cmdline"
	"gitagent/internal/record"
	"gitagent/turns"
)

// line returns the line of a turn in the list.
func (f *finder) line(t *turns.Turn) string {
	room := f.columns
	if room >= wide {
		room = room/2 - 1 // the list's half
	}
	return line(t, f.now, f.all, room-2) // marks
}

// line formats a turn's number or name, prompt, age and changes in room
// columns. The prompt comes before all others: where it has no room, first the
// changes are left out, then the age, then the name. Behind that the search also
// sees the rest of the prompt, the name and the paths.
func line(t *turns.Turn, now time.Time, all bool, room int) string {
	name := fmt.Sprintf("%4d", t.Turn)
	if all {
		name = fmt.Sprintf("%-13s", t.After())
	}
	// Terminals don't agree on how wide an emoji is that asks for its colours.
	prompt := strings.ReplaceAll(cmdline.OneLine(t.Prompt), "\ufe0f", "")
	if t.Outcome != record.Done {
		prompt = "(" + cmdline.OneLine(string(t.Outcome)) + ") " + prompt
	}
	own := t.Change()
	before, after := name+gap, gap+fmt.Sprintf("%4s", cmdline.Age(now, t.At))
	changes := fmt.Sprintf("  %5s %5s", "+"+strconv.Itoa(own.Insertions), "-"+strconv.Itoa(own.Deletions))
	if room-len(before+after+changes) >= leastPrompt {
		after += changes
	}
	if room-len(before+after) < leastSeen {
		after = ""
	}
	hidden := ""
	if room-len(before) < leastSeen {
		before, hidden = "", gap+strings.TrimSpace(name)
	}
	most := max(room-len(before+after), 1)
	seen := cmdline.Truncate(prompt, most)
	rest := ""
	if seen != prompt {
		rest = gap + prompt
	}
	rest += hidden
	for i, p := range own.Paths {
		if i == maxPaths {
			break
		}
		rest += gap + cmdline.OneLine(p)
	}
	return before + seen + strings.Repeat(" ", most-cmdline.Width(seen)) + after + rest
}

const (
	gap         = "  "
	leastPrompt = 28 // columns; with fewer, changes are left out
	leastSeen   = 8  // with fewer, the age is, and then the name
	maxPaths    = 20
)
