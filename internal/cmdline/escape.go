package cmdline

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape makes untrusted text safe to print on one line of a terminal.
//
// C0 and C1 control characters become visible escapes in the style of Go: \n,
// \x1b, \u009b; so do line and paragraph separators, characters that reorder or
// hide text (bidirectional overrides and isolates, zero-width and tag
// characters), and bytes that are not UTF-8: \xff. Everything else stays,
// including the joiners that emoji and several scripts need. A backslash also
// stays, so Escape is for reading, not for decoding, and is idempotent.
func Escape(text string) string {
	return escape(text, "")
}

// EscapeLines is [Escape], but keeps line feeds and tabs; CR LF becomes LF.
func EscapeLines(text string) string {
	return escape(strings.ReplaceAll(text, "\r\n", "\n"), "\n\t")
}

func escape(text, keep string) string {
	if isPlain(text) {
		return text
	}
	start := 0 // of the safe text not yet in b
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		if invalid := r == utf8.RuneError && size == 1; invalid || isHazard(r) && !strings.ContainsRune(keep, r) {
			b.WriteString(text[start:i])
			switch {
			case invalid:
				fmt.Fprintf(&b, `\x%02x`, text[i])
			case r == '\n':
				b.WriteString(`\n`)
			case r == '\r':
				b.WriteString(`\r`)
			case r == '\t':
				b.WriteString(`\t`)
			case r < utf8.RuneSelf:
				fmt.Fprintf(&b, `\x%02x`, r)
			case r < 0x10000:
				fmt.Fprintf(&b, `\u%04x`, r)
			default:
				fmt.Fprintf(&b, `\U%08x`, r)
			}
			start = i + size
		}
		i += size
	}
	if start == 0 {
		return text
	}
	b.WriteString(text[start:])
	return b.String()
}

// isPlain reports whether text has only visible characters of ASCII and spaces.
func isPlain[T string | []byte](text T) bool { return plainBytes(text) == len(text) }

// plainBytes returns how many bytes of text come before the first one that is
// not a visible character of ASCII or a space. It looks at eight at once.
func plainBytes[T string | []byte](text T) int {
	n := 0
	for ; n+8 <= len(text); n += 8 {
		if w := word(text[n:]); ((w-ones*' ')|w|(w+ones))&highs != 0 {
			break
		}
	}
	for ; n < len(text); n++ {
		if c := text[n]; c < ' ' || c >= 0x7f {
			break
		}
	}
	return n
}

func isASCII(text string) bool {
	for ; len(text) >= 8; text = text[8:] {
		if word(text)&highs != 0 {
			return false
		}
	}
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// In each of eight bytes, the lowest bit and the highest.
const (
	ones  = 0x0101010101010101
	highs = ones << 7
)

// word returns the first eight bytes.
func word[T string | []byte](text T) uint64 {
	_ = text[7]
	return uint64(text[0]) | uint64(text[1])<<8 | uint64(text[2])<<16 | uint64(text[3])<<24 |
		uint64(text[4])<<32 | uint64(text[5])<<40 | uint64(text[6])<<48 | uint64(text[7])<<56
}

// isHazard reports whether r may command a terminal or change other text.
func isHazard(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r < ' ' || r == 0x7f
	case r == '\u200c' || r == '\u200d': // joiners
		return false
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r): // visible, unlike the rest of Cf
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// OneLine is [Escape] with one space for every run of white space.
func OneLine(text string) string {
	var out []byte
	for rest := text; ; {
		n := plainBytes(rest)
		line := strings.Trim(rest[:n], " ")
		if strings.Contains(line, "  ") || n < len(rest) && (rest[n] < '\t' || rest[n] > '\r') {
			return Escape(strings.Join(strings.Fields(text), " "))
		}
		if n == len(text) {
			return line
		}
		if out == nil {
			out = make([]byte, 0, len(text))
		}
		if len(out) > 0 && line != "" {
			out = append(out, ' ')
		}
		if out = append(out, line...); n == len(rest) {
			return string(out)
		}
		rest = rest[n+1:]
	}
}
