package cmdline

import "strings"

// Indent is a text whose lines are broken as by [Wrap], with a label before the first one, and as many
// blanks as that has columns before the others.
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
