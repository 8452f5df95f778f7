package cmdline

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// isInvisible reports whether r is a hazard or a joiner; escapes lose neither.
func isInvisible(r rune) bool { return isHazard(r) || r == '\u200c' || r == '\u200d' }

// JSON makes a line of JSON safe to print: everything that [Escape] escapes,
// and the joiners, become \uXXXX, which means the same. Invalid UTF-8 becomes
// \ufffd, as readers take it.
func JSON(line []byte) []byte {
	if isPlain(line) || !bytes.ContainsFunc(line, unsafeInJSON) {
		return line
	}
	out := make([]byte, 0, len(line)+64)
	for len(line) > 0 {
		r, size := utf8.DecodeRune(line)
		switch {
		case r < ' ': // between tokens: not allowed in strings
			out = append(out, ' ')
		case !unsafeInJSON(r) || r == utf8.RuneError && size > 1:
			out = append(out, line[:size]...)
		case r >= 0x10000:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		line = line[size:]
	}
	return out
}

func unsafeInJSON(r rune) bool { return r == utf8.RuneError || isInvisible(r) }

// Shell quotes words for a POSIX shell, to be shown, copied and pasted. Line
// breaks and tabs stay; printf makes the joiners and what else [Escape] would
// escape. A NUL can't be written, and is left out.
func Shell(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(strings.ReplaceAll(w, "\x00", ""))
	}
	return strings.Join(quoted, " ")
}

func quote(word string) string {
	if word != "" && !strings.ContainsFunc(word, special) {
		return word
	}
	var b strings.Builder
	b.WriteByte('\'')
	for len(word) > 0 {
		shown := 0 // bytes without a hazard
		for shown < len(word) && !hiddenAt(word[shown:]) {
			_, size := utf8.DecodeRuneInString(word[shown:])
			shown += size
		}
		b.WriteString(strings.ReplaceAll(word[:shown], "'", `'\''`))
		word = word[shown:]
		hidden := 0
		for hidden < len(word) && hiddenAt(word[hidden:]) {
			_, size := utf8.DecodeRuneInString(word[hidden:])
			hidden += size
		}
		if hidden > 0 {
			b.WriteString(`'"$(printf '`)
			for _, c := range []byte(word[:hidden]) {
				fmt.Fprintf(&b, `\%03o`, c)
			}
			b.WriteString(`')"'`)
			word = word[hidden:]
		}
	}
	b.WriteByte('\'')
	return b.String()
}

func hiddenAt(text string) bool {
	r, size := utf8.DecodeRuneInString(text)
	return r == utf8.RuneError && size == 1 || isInvisible(r) && r != '\n' && r != '\t'
}

func special(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@+,=%", r))
}
