package cmdline

import (
	"strings"
	"unicode"
)

// Markdown makes untrusted text safe for a line of Markdown and for a commit
// message, which forges copy into a pull request's description. It shows what
// [OneLine] would, without an effect.
//
// A prompt must neither notify people nor close issues. Forges look for names
// and numbers in rendered text and in the source, where a backslash may not
// help. So the @ of a name and the # of a number become the wide characters
// that look like them, like the : of an address, which would be a reference if it
// is that of an issue; the - of GH-12 becomes a hyphen that does not break.
func Markdown(text string) string {
	var b strings.Builder
	list := []rune(OneLine(text))
	at := func(i int) rune {
		if i < 0 || i >= len(list) {
			return ' '
		}
		return list[i]
	}
	begins := true // only digits so far
	for i, r := range list {
		before, after := at(i-1), at(i+1)
		switch {
		case r == '@' && (isWord(after) || strings.ContainsRune(`"-`, after)):
			r = '＠'
		case r == '#' && isWord(after):
			r = '＃'
		case r == ':' && after == '/' && at(i+2) == '/':
			r = '：'
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
