package vt

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Captured returns the plain text of what tmux's capture-pane -e printed of a
// pane with that many columns: without attributes, and with characters for
// drawn lines, for which tmux has letters, and for tabs, which it keeps from 3.6
// on. stops are where those end, in the form of tmux's #{pane_tabs}. Blank lines
// at the end are left out.
func Captured(page []byte, cols int, stops string) []byte {
	begin := fmt.Sprintf("\x1b[8;%d;%dt\x1b[?2027h\x1b)0%s", startRows, cols, Stops(stops))
	var text bytes.Buffer
	// Nothing fails here.
	_ = Render(&text, io.MultiReader(strings.NewReader(begin), bytes.NewReader(bytes.ReplaceAll(page, []byte("\n"), []byte("\r\n")))))
	return text.Bytes()
}

// Stops returns what gives a terminal the tab stops of tmux's #{pane_tabs}, and
// puts the cursor at the start of the line.
func Stops(stops string) string {
	var b strings.Builder
	b.WriteString("\x1b[3g")
	for _, stop := range strings.Split(stops, ",") {
		if x, err := strconv.Atoi(stop); err == nil {
			fmt.Fprintf(&b, "\x1b[%dG\x1bH", x+1)
		}
	}
	b.WriteString("\r")
	return b.String()
}
