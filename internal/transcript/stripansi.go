package transcript

import (
	"strings"
	"unicode"
)

// stripANSI returns a printed line as a terminal would show it: without
// sequences for colour, cursor or title, and after the last carriage return, as
// in a progress bar. Unreadable sequences and other control characters stay.
func stripANSI(line string) string {
	line = line[strings.LastIndexByte(line, '\r')+1:]
	if !strings.Contains(line, "\x1b") {
		return line
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(line, "\x1b")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		n := sequence(after)
		if n == 0 {
			b.WriteByte('\x1b')
		}
		line = after[n:]
	}
}

// sequence returns the length of the control sequence after an ESC, 0 unless it
// is a complete one of a common kind.
func sequence(s string) int {
	switch {
	case strings.HasPrefix(s, "["): // ECMA-48, 5.4: parameters, intermediate bytes, a final byte
		rest := strings.TrimLeft(s[1:], "0123456789:;<=>?")
		rest = strings.TrimLeft(rest, " !\"#$%&'()*+,-./")
		if rest != "" && rest[0] >= '@' && rest[0] <= '~' {
			return len(s) - len(rest) + 1
		}
	case strings.HasPrefix(s, "]"):
		return stringSequence(s)
	case len(s) > 1 && s[0] >= ' ' && s[0] <= '/': // a character set
		if s[1] >= '0' && s[1] <= '~' {
			return 2
		}
	case s != "" && s[0] >= '0' && s[0] <= '?': // to save and to restore the cursor, for instance
		return 1
	}
	return 0
}

// maxString limits a title or link, in bytes; terminals take shorter URLs.
const maxString = 4 << 10

// stringSequence returns the length of a title or link, which ends with BEL or
// ESC \; 0 if it is neither or contains another control character.
func stringSequence(s string) int {
	end := strings.IndexFunc(s, unicode.IsControl)
	switch {
	case end < 0 || end > maxString+1:
	case s[end] == '\a':
		return end + 1
	case strings.HasPrefix(s[end:], "\x1b\\"):
		return end + 2
	}
	return 0
}
