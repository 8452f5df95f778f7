package cmdline

import (
	"strings"
	"unicode"
)

// Markdown makes a text of anybody's safe to put into a line of Markdown, and into the message of a commit,
// which forges make of a pull request's description: it shows what [OneLine] would, and has no effect.
//
// A prompt must neither notify people nor close issues. Forges look for that in what they have rendered, and
// in the source, where a backslash may or may not help. So the @ of a name and the # of a number become the
// wide characters that look like them, the - of GH-12 a hyphen that does not break, and an address of the
// web is no link.
func Markdown(text string) string {
	var b strings.Builder
	list := []rune(OneLine(text))
	at := func(i int) rune {
		if i < 0 || i >= len(list) {
			return ' '
		}
		return list[i]
	}
	begins := true // so far there were digits alone
	for i, r := range list {
		before, after := at(i-1), at(i+1)
		switch {
		case r == '@' && (isWord(after) || strings.ContainsRune(`"-`, after)):
			r = '＠'
		case r == '#' && isWord(after):
			r = '＃'
		case r == '-' && unicode.IsLetter(before) && unicode.IsDigit(after):
			r = '\u2011'
		case strings.ContainsRune("\\`*_[]<>|~&$%!{}@#", r),
			r == ':' && isWord(before) && after != ' ',
			r == '.' && unicode.ToLower(before) == 'w',
			begins && strings.ContainsRune("-+=.)", r):
			b.WriteByte('\\')
		}
		begins = begins && '0' <= r && r <= '9'
		b.WriteRune(r)
	}
	return b.String()
}

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
