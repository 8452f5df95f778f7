package transcript

import (
	"strings"
	"unicode"
)

// plain returns what a terminal would show of a line that a program printed: without the sequences
// that colour text, move the cursor or set a title, and, if it was overwritten, as by a progress bar,
// the last state. A sequence that can't be read stays whole, and so do other control characters.
func plain(line string) string {
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

// sequence returns the length of the control sequence that follows an ESC, 0 for anything but a whole
// one of those that programs print.
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

// maxString is how many bytes of a title or a link are left out: more than terminals take of a URL.
const maxString = 4 << 10

// stringSequence returns the length of a title or of a link, which BEL or ESC \ ends, 0 if there is
// neither or anything that has no place in one.
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
