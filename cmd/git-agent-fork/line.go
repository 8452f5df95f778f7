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
	return line(t, f.now, f.all, room-4) // the cursor, and dots at the end
}

// line formats a turn's number or name, prompt, age and changes in room
// columns. Behind them the search also sees the rest of the prompt and the
// paths.
func line(t *turns.Turn, now time.Time, all bool, room int) string {
	name := fmt.Sprintf("%4d", t.Turn)
	if all {
		name = fmt.Sprintf("%-13s", t.After())
	}
	prompt := cmdline.OneLine(t.Prompt)
	if t.Outcome != record.Done {
		prompt = "(" + cmdline.OneLine(string(t.Outcome)) + ") " + prompt
	}
	after := fmt.Sprintf("%4s", cmdline.Age(now, t.At))
	own := t.Change()
	changes := fmt.Sprintf("  %5s %5s", "+"+strconv.Itoa(own.Insertions), "-"+strconv.Itoa(own.Deletions))
	if room-len(name)-len(after)-len(changes)-2*len(gap) >= leastPrompt {
		after += changes
	}
	most := max(room-len(name)-len(after)-2*len(gap), 1)
	seen := cmdline.Truncate(prompt, most)
	rest := ""
	if seen != prompt {
		rest = gap + prompt
	}
	for i, p := range own.Paths {
		if i == maxPaths {
			break
		}
		rest += gap + cmdline.OneLine(p)
	}
	return name + gap + seen + strings.Repeat(" ", most-cmdline.Width(seen)) + gap + after + rest
}

const (
	gap         = "  "
	leastPrompt = 28 // columns; with fewer, changes are left out
	maxPaths    = 20
)
