package cmdline

import "strings"

// Indent breaks text as [Wrap] does, with label at its left.
func Indent(label, text string, columns int) string {
	width := Width(label)
	if columns > 0 {
		columns = max(1, columns-width)
	}
	var lines []string
	for line := range Wrap(text, columns) {
		lines = append(lines, line)
	}
	return label + strings.Join(lines, "\n"+strings.Repeat(" ", width))
}
