package cmdline

import (
	"io"
	"strings"
)

// WriteMessage writes a message that begins with label on its own line. The
// text must be safe. A terminal's lines are broken at words and go on after two
// blanks. A command, from "git" or "env" after a colon to a semicolon or the
// end, stays in one line, so that it can be copied.
func WriteMessage(w io.Writer, label, text string) {
	_, _ = io.WriteString(w, broken(label+text, "  ", Columns(w))+"\n") // there is nowhere to report an error
}

// Labelled returns a label, which may end in blanks, and a text, which must be
// safe. Lines are broken as by [WriteMessage] to columns, and go on below the
// text.
func Labelled(label, text string, columns int) string {
	width := Width(label)
	if columns > 0 {
		columns = max(1, columns-width)
	}
	return label + strings.ReplaceAll(broken(text, "", columns), "\n", "\n"+strings.Repeat(" ", width))
}

// broken breaks lines to columns, unless that is 0, with indent before each
// continuation. A line with a leading blank is already laid out.
func broken(text, indent string, columns int) string {
	if columns == 0 {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if Width(strings.TrimSuffix(line, "\n")) <= columns || strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") {
			b.WriteString(line)
			continue
		}
		width := 0
		for i, word := range words(line) {
			w := Width(strings.TrimSuffix(word, "\n"))
			switch {
			case i == 0:
			case width+1+w > columns:
				b.WriteString("\n" + indent)
				width = len(indent)
			default:
				b.WriteByte(' ')
				width++
			}
			b.WriteString(word)
			width += w
		}
	}
	return b.String()
}

func words(line string) []string {
	var list []string
	command := false
	for _, word := range strings.Split(line, " ") {
		begins := (word == "git" || word == "env") && len(list) > 0 && strings.HasSuffix(list[len(list)-1], ":")
		if command {
			list[len(list)-1] += " " + word
		} else {
			list = append(list, word)
		}
		command = (command || begins) && !strings.HasSuffix(word, ";")
	}
	return list
}
