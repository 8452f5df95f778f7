package cmdline

import (
	"iter"
	"strings"
)

// Wrap yields the lines of a text, with prose broken at words to columns.
// Fenced and indented Markdown code and tables stay as they are. A list item
// goes on below its text, and a word longer than a line has its own. If columns
// is 0, every line stays. The text must be safe.
func Wrap(text string, columns int) iter.Seq[string] {
	return func(yield func(string) bool) {
		fence := ""
		for line := range strings.Lines(text) {
			line = strings.TrimRight(line, "\n")
			code := fence != ""
			fence = nextFence(fence, line)
			if columns <= 0 || code || fence != "" || Width(line) <= columns || !isProse(line) {
				if !yield(line) {
					return
				}
			} else if !wrapLine(line, columns, yield) {
				return
			}
		}
	}
}

// nextFence returns the fence of the code block that is open after a line.
func nextFence(open, line string) string {
	text := strings.TrimLeft(line, " ")
	if open != "" {
		if rest := strings.TrimRight(text, " "); strings.HasPrefix(rest, open) && strings.Trim(rest, open[:1]) == "" {
			return ""
		}
		return open
	}
	for _, mark := range []string{"`", "~"} {
		if rest := strings.TrimLeft(text, mark); len(text)-len(rest) >= 3 && !strings.Contains(rest, "`") {
			return text[:len(text)-len(rest)]
		}
	}
	return ""
}

// isProse reports whether a line outside a fence is no code or table row.
func isProse(line string) bool {
	text := strings.TrimLeft(line, " ")
	return !strings.HasPrefix(text, "|") && !strings.HasPrefix(text, "\t") && (len(line)-len(text) < 4 || marker(text) > 0)
}

// marker returns the length of a list item's marker, or 0.
func marker(text string) int {
	digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
	rest := text[digits:]
	switch {
	case len(rest) < 2 || rest[1] != ' ':
	case digits == 0 && strings.ContainsRune("-*+>", rune(rest[0])), digits > 0 && digits < 5 && (rest[0] == '.' || rest[0] == ')'):
		return digits + 2
	}
	return 0
}

func wrapLine(line string, columns int, yield func(string) bool) bool {
	text := strings.TrimLeft(line, " ")
	hang := len(line) - len(text)
	first := hang + marker(text)
	b := []byte(line[:first])
	indent := strings.Repeat(" ", min(first, columns/2))
	width, begun := first, false
	for word := range strings.FieldsFuncSeq(line[first:], func(c rune) bool { return c == ' ' || c == '\t' }) {
		for _, piece := range pieces(word, columns-len(indent)) {
			w := Width(piece)
			switch {
			case begun && width+1+w > columns:
				if !yield(string(b)) {
					return false
				}
				b, width = append(b[:0], indent...), len(indent)
			case begun:
				b, width = append(b, ' '), width+1
			}
			b, width, begun = append(b, piece...), width+w, true
		}
	}
	return yield(string(b))
}

// pieces breaks a word longer than a line if its script has no blanks. An ASCII
// word is a URL or a path, and stays whole to be copied.
func pieces(word string, columns int) []string {
	if isASCII(word) || Width(word) <= columns {
		return []string{word}
	}
	var list []string
	start, width := 0, 0
	for i, c := range word {
		w := widths.RuneWidth(c)
		if width+w > columns && w > 0 && i > start {
			list, start, width = append(list, word[start:i]), i, 0
		}
		width += w
	}
	return append(list, word[start:])
}
