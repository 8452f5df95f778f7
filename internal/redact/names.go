package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// names are the names of a user's own, by their first words, folded. A name is
// its words: Anna Schmidt is also anna.schmidt, ANNA_SCHMIDT, annaschmidt, and
// Anna at the end of a line.
type names map[string][][]string

func newNames(list []string) names {
	if len(list) == 0 {
		return nil
	}
	n := names{}
	for _, name := range list {
		name, _ = composed(name)
		words := strings.FieldsFunc(name, func(r rune) bool { return !inWord(r) })
		for i, w := range words {
			words[i] = string(appendFolded(nil, w))
		}
		if len(words) == 0 {
			continue
		}
		n[words[0]] = append(n[words[0]], words[1:])
		if len(words) > 1 {
			joined := strings.Join(words, "")
			n[joined] = append(n[joined], nil)
		}
	}
	return n
}

// IsName reports whether a name has a word by which it can be found.
func IsName(name string) bool { return strings.IndexFunc(name, inWord) >= 0 }

// inWord reports whether a word may have r. Combining marks belong to the
// letter before them.
func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// appendFolded appends s in the one case of all of its spellings.
func appendFolded(b []byte, s string) []byte {
	for _, r := range s {
		if r < utf8.RuneSelf {
			if 'a' <= r && r <= 'z' {
				r -= 'a' - 'A'
			}
			b = append(b, byte(r))
			continue
		}
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		b = utf8.AppendRune(b, least)
	}
	return b
}

// find appends where s has the names.
func (n names) find(s string, spans []span) []span {
	if n == nil {
		return spans
	}
	for i := 0; i < len(s); {
		end := wordEnd(s, i)
		if end == i {
			_, size := utf8.DecodeRuneInString(s[i:])
			i += size
			continue
		}
		if to := n.at(s, i, end); to > i {
			spans = append(spans, span{start: i, end: to, rule: ruleName})
			end = to
		}
		i = end
	}
	return spans
}

// at returns the end of the longest name that begins with the word s[i:end], or
// i.
func (n names) at(s string, i, end int) int {
	to := i
	for _, rest := range n[string(folded(s[i:end]))] {
		at := end
		for _, word := range rest {
			from := between(s, at)
			at = wordEnd(s, from)
			if string(folded(s[from:at])) != word {
				at = -1
				break
			}
		}
		to = max(to, at)
	}
	return to
}

// folded is appendFolded for a word of a text, if it can be one of a name.
func folded(word string) []byte {
	if len(word) > 4*MaxName {
		return nil
	}
	return appendFolded(make([]byte, 0, 2*MaxName), word)
}

// wordEnd returns the end of the letters and digits from s[i].
func wordEnd(s string, i int) int {
	for i < len(s) {
		if s[i] < utf8.RuneSelf {
			if !is(s[i], alnum) {
				break
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if !inWord(r) {
			break
		}
		i += size
	}
	return i
}

// between returns where the next word of a name may begin after the one that
// ends at s[i]: after a few signs, of which blanks in a row are one, a blank in
// a URL, or the end of a line with the next one's margin.
func between(s string, i int) int {
	const signs = "\t.,_-'+/"
	for n := 0; n < 3 && i < len(s); n++ {
		switch {
		case s[i] == ' ':
			i = skipByte(s[:min(len(s), i+maxLine)], i, ' ')
		case strings.IndexByte(signs, s[i]) >= 0:
			i++
		case strings.HasPrefix(s[i:], "%20"):
			i += len("%20")
		case strings.HasPrefix(s[i:], "\u00a0"), strings.HasPrefix(s[i:], "’"):
			_, size := utf8.DecodeRuneInString(s[i:])
			i += size
		}
	}
	if next := skipByte(s, i, '\r'); next < len(s) && s[next] == '\n' {
		i = skipByte(s, margin(s, next+1), ' ')
	}
	return i
}
