package transcript

import "strings"

// plain returns what a terminal would show of a program's output: without the sequences that colour
// text or move the cursor, and of a line that was overwritten, as by a progress bar, the last state.
// Other control characters stay.
func plain(text string) string {
	if !strings.ContainsAny(text, "\x1b\r") {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for line := range strings.Lines(text) {
		body := strings.TrimRight(line, "\r\n")
		if i := strings.LastIndexByte(body, '\r'); i >= 0 {
			body = body[i+1:]
		}
		for {
			before, after, found := strings.Cut(body, "\x1b")
			b.WriteString(before)
			if !found {
				break
			}
			body = after[sequence(after):]
		}
		if strings.HasSuffix(line, "\n") {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// sequence returns the length of the control sequence that follows an ESC, as far as it goes in its line.
func sequence(s string) int {
	switch {
	case s == "":
		return 0
	case s[0] == '[': // parameters up to a final byte
		for i := 1; i < len(s); i++ {
			if s[i] >= '@' && s[i] <= '~' {
				return i + 1
			}
		}
		return len(s)
	case s[0] == ']': // a title or a link, up to BEL or ST
		end := strings.IndexAny(s, "\a\x1b")
		switch {
		case end < 0:
			return len(s)
		case strings.HasPrefix(s[end:], "\x1b\\"):
			return end + 2
		case s[end] == '\a':
			return end + 1
		}
		return end
	case s[0] >= ' ' && s[0] <= '/': // a character set: one more byte
		return min(2, len(s))
	}
	return 0
}
