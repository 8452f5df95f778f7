package redact

import "strings"

// Tools show the lines of a file with something before them: a number in a listing, a sign in a
// diff, a file's name in the output of grep. That is a line's margin. The rules that depend on
// where a line begins, or on the line before it, look past it.

// margin returns the end of the margin of the line that begins at s[i].
func margin(s string, i int) int {
	if i = listing(s, i); i < len(s) && strings.IndexByte("+-> ", s[i]) >= 0 {
		i++
	}
	return i
}

// listing returns the end of the number, and the file's name, before the line that begins at s[i].
func listing(s string, i int) int {
	m := skipByte(s, i, ' ')
	if m == i {
		// grep -n and others: the file's name
		if e := run(s, m, dotted|plus, maxLine); e > m && e < len(s) && s[e] == ':' && run(s, e+1, digit, 7) > e+1 {
			m = e + 1
		}
	}
	n := run(s, m, digit, 7)
	if n == m || n == len(s) {
		return i
	}
	bar := skipByte(s, n, ' ')
	switch {
	case s[n] == '\t' || s[n] == ':' && m > i:
		return n + 1
	case s[n] == ':' && !strings.HasPrefix(s[n:], ": "):
		return n + 1
	case bar < len(s) && s[bar] == '|':
		return bar + 1
	case strings.HasPrefix(s[n:], "→"):
		return n + len("→")
	case strings.HasPrefix(s[bar:], "│"):
		return bar + len("│")
	}
	return i
}

// A line is a line of a text.
type line struct {
	begin, text, end int  // of the margin, of the text without its blanks, of the line
	indent           int  // how far the text is indented, the sign of a diff included
	item             bool // it begins a YAML list's item; the text is what follows the dash
}

// lineAt returns the line that begins at s[i].
func lineAt(s string, i int) line {
	from := listing(s, i)
	from += len(s[from:]) - len(strings.TrimPrefix(s[from:], "> "))
	l := line{begin: i, text: from}
	item := strings.HasPrefix(s[from:], "- ") && !strings.HasPrefix(s[from:], "-  ")
	if from < len(s) && (s[from] == '+' || s[from] == '-' && !item && !strings.HasPrefix(s[from:], "---")) { // a diff
		l.text++
	}
	l.text = skipByte(s, l.text, ' ')
	for strings.HasPrefix(s[l.text:], "- ") {
		l.text, l.item = l.text+len("- "), true
	}
	l.indent = l.text - from
	l.end = lineStop(s, l.text, maxManifest)
	return l
}

// lineBegin returns the beginning of the line of s[i], margin included, at most limit bytes before.
func lineBegin(s string, i, limit int) int {
	low := max(0, i-limit)
	return low + strings.LastIndexByte(s[low:i], '\n') + 1
}

// lineStop returns the end of the line of s[i], without its line end, at most limit bytes after.
func lineStop(s string, i, limit int) int {
	end := min(len(s), i+limit)
	if n := strings.IndexByte(s[i:end], '\n'); n >= 0 {
		end = i + n
	}
	if end > i && s[end-1] == '\r' {
		end--
	}
	return end
}

// lineNext returns the beginning of the line after the one that ends at s[i].
func lineNext(s string, i int) int {
	i = skipByte(s, i, '\r')
	return min(len(s), i+1)
}

// lineStart reports whether a line begins at s[i], after its margin.
func (c *scanner) lineStart(i int) bool {
	if i > 1 && c.s[i-2] == '\\' && c.s[i-1] == 'n' {
		return true
	}
	begin := lineBegin(c.s, i, maxLine)
	return begin == i || margin(c.s, begin) == i
}

// lineEnd reports whether a line ends at s[i], or a string that it is in.
func (c *scanner) lineEnd(i int) bool {
	return i == len(c.s) || strings.IndexByte("\n\r\\\"'`", c.s[i]) >= 0
}

// needLines notes that a rule depends on the lines of text, a part of s, which may have escapes of
// line ends.
func (c *scanner) needLines(text string) { c.lines = c.lines || strings.Contains(text, `\n`) }

// before returns the n bytes before s[i] without the margins of lines that begin in them.
func (c *scanner) before(i, n int) string {
	text := c.s[i-n : i]
	c.needLines(text)
	if strings.IndexByte(text, '\n') < 0 {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if b.Len() > 0 {
			line = line[margin(line, 0):]
		}
		b.WriteString(line)
	}
	return b.String()
}
