package redact

import "strings"

// Tools put a number (listings), a sign (diffs) or a file's name (grep) before
// the lines of a file. Rules about the beginning of a line, or the line before
// it, skip this margin.

// margin returns the end of the margin of the line at s[i].
func margin(s string, i int) int {
	if i = listing(s, i); i < len(s) && strings.IndexByte("+-> ", s[i]) >= 0 {
		i++
	}
	return i
}

// listing returns the end of the file name and number before the line at s[i].
func listing(s string, i int) int {
	m := skipByte(s, i, ' ')
	if m == i {
		// grep -n and others put the file's name before the number.
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

type line struct {
	begin, text, end int  // of the margin, of the text without its blanks, of the line
	indent           int  // of the text, including the sign of a diff
	item             bool // it begins a YAML list's item; text is after the dash
}

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

// lineBegin returns the beginning of s[i]'s line, at most limit bytes back.
func lineBegin(s string, i, limit int) int {
	low := max(0, i-limit)
	return low + strings.LastIndexByte(s[low:i], '\n') + 1
}

// lineStop returns the end of s[i]'s line, at most limit bytes on.
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

// lineNext returns the beginning of the line after one that ends at s[i].
func lineNext(s string, i int) int {
	i = skipByte(s, i, '\r')
	return min(len(s), i+1)
}

// lineStart reports whether a line begins at s[i], not counting its margin.
func (c *scanner) lineStart(i int) bool {
	if i > 1 && c.s[i-2] == '\\' && c.s[i-1] == 'n' {
		return true
	}
	begin := lineBegin(c.s, i, maxLine)
	return begin == i || margin(c.s, begin) == i
}

// lineEnd reports whether a line, or the string around s[i], ends there.
func (c *scanner) lineEnd(i int) bool {
	return i == len(c.s) || strings.IndexByte("\n\r\\\"'`", c.s[i]) >= 0
}

// needLines notes that a rule depends on lines in text that may be escaped.
func (c *scanner) needLines(text string) { c.lines = c.lines || strings.Contains(text, `\n`) }

// before returns the n bytes before s[i] without margins of lines in them.
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
