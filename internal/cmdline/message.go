package cmdline

import (
	"io"
	"strings"
)

// WriteMessage writes a message in a line of its own, whose text begins with label and must already be safe.
// On a terminal, lines are broken at words, with two blanks before what goes on. A command in the
// text, from "git" after a colon to a semicolon or the end, stays in one line, so that it can be copied.
func WriteMessage(w io.Writer, label, text string) {
	_, _ = io.WriteString(w, broken(label+text, "  ", Columns(w))+"\n") // there is nobody else to tell
}

// Labelled is one line of a report: a label, which may end in blanks, and a text, which must already be safe.
// Lines are broken as by [Tell], for that many columns, with as many blanks as the label has before what goes on.
func Labelled(label, text string, columns int) string {
	width := Width(label)
	if columns > 0 {
		columns = max(1, columns-width)
	}
	return label + strings.ReplaceAll(broken(text, "", columns), "\n", "\n"+strings.Repeat(" ", width))
}

// broken is a text whose lines are broken for that many columns, 0 for any number, with indent before what goes
// on. A line that begins with a blank is laid out already.
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

// words are the words of a message, each command one.
func words(line string) []string {
	var list []string
	command := false
	for _, word := range strings.Split(line, " ") {
		if command = command || word == "git" && len(list) > 0 && strings.HasSuffix(list[len(list)-1], ":"); command && word != "git" {
			list[len(list)-1] += " " + word
		} else {
			list = append(list, word)
		}
		command = command && !strings.HasSuffix(word, ";")
	}
	return list
}
