package search

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Query is a search. Goroutines may share it.
type Query struct{ terms []term }

const maxTerms = 64

// A term is a word or a pattern.
type term struct {
	// These skip lines that can't match: of JSON, of JSON without escapes that
	// matter, and of text.
	raw, plain, text finder

	find func(line []byte, most int) [][]int
}

// Words returns a query for texts with all words, which may contain blanks. It
// ignores blank words.
func Words(words []string) (*Query, error) {
	q := &Query{}
	for _, w := range words {
		if strings.TrimSpace(w) == "" {
			continue
		}
		q.terms = append(q.terms, word(strings.ToValidUTF8(w, "\uFFFD")))
	}
	return q.check()
}

// Patterns returns a query for texts that match all Go regular expressions.
// Classes such as \S don't make a pattern depend on case.
func Patterns(patterns []string) (*Query, error) {
	q := &Query{}
	for _, p := range patterns {
		if p == "" {
			continue
		}
		t, err := pattern(p)
		if err != nil {
			return nil, err
		}
		q.terms = append(q.terms, t)
	}
	return q.check()
}

func (q *Query) check() (*Query, error) {
	switch {
	case len(q.terms) == 0:
		return nil, errors.New("nothing to look for")
	case len(q.terms) > maxTerms:
		return nil, fmt.Errorf("%d words, and %d can be looked for at once", len(q.terms), maxTerms)
	}
	return q, nil
}

func word(w string) term {
	fold := !strings.ContainsFunc(w, unicode.IsUpper)
	runes := []rune(w)
	whole := newFinder(runes, fold)
	raw := newFinder(safest(runes), fold).inJSON()
	raw.whole = len(safest(runes)) == len(runes) && len(raw.one) == len(runes) // in ASCII
	return term{
		raw: raw, plain: raw.inPlain(), text: whole,
		find: func(line []byte, most int) [][]int { return whole.find(line, runes, fold, most) },
	}
}

// notLetters matches a pattern's letters that say nothing about case.
const notLetters = `\\[pPx]\{[^}]*\}|\\.|\(\?P?<[^>]*>|\(\?[a-zA-Z-]*`

func pattern(p string) (term, error) {
	if !strings.ContainsFunc(regexp.MustCompile(notLetters).ReplaceAllString(p, ""), unicode.IsUpper) {
		p = "(?i)" + p
	}
	parsed, err := syntax.Parse(p, syntax.Perl)
	if err != nil {
		return term{}, err
	}
	re, err := regexp.Compile(p)
	if err != nil {
		return term{}, err
	}
	runes, fold := literal(parsed)
	t := term{raw: newFinder(safest(runes), fold), text: newFinder(runes, fold), find: re.FindAllIndex}
	const enough = 3 // letters, of which the rarest is quickly found
	window := shapeOf(parsed).best
	if len(runes) < enough && len(window) > len(runes) {
		t.text = newSieved(window)
	}
	if n, window := len(safest(runes)), asIs(window); n < enough && len(window) > n {
		t.raw = newSieved(window)
	}
	t.raw = t.raw.inJSON()
	t.plain = t.raw.inPlain()
	return t, nil
}

// literal returns the longest text easily seen to be in all matches, and
// whether it may be in any case.
func literal(re *syntax.Regexp) (longest []rune, fold bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return re.Rune, re.Flags&syntax.FoldCase != 0
	case syntax.OpCapture, syntax.OpPlus, syntax.OpConcat:
	case syntax.OpRepeat:
		if re.Min == 0 {
			return nil, false
		}
	default:
		return nil, false
	}
	for _, sub := range re.Sub {
		if l, f := literal(sub); len(l) > len(longest) {
			longest, fold = l, f
		}
	}
	return longest, fold
}

// safest returns the longest part of text that is [safe].
func safest(text []rune) []rune {
	var longest []rune
	start := 0
	for i := 0; i <= len(text); i++ {
		if i < len(text) && safe(text[i]) {
			continue
		}
		if i-start > len(longest) {
			longest = text[start:i]
		}
		start = i + 1
	}
	return longest
}

// spellings returns r, its other case of equal length (or r), and all others.
func spellings(r rune, fold bool) (one, other []byte, rest [][]byte) {
	one = utf8.AppendRune(nil, r)
	other = one
	if !fold {
		return one, other, nil
	}
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		b := utf8.AppendRune(nil, next)
		if len(b) == len(one) && string(other) == string(one) {
			other = b
		} else {
			rest = append(rest, b)
		}
	}
	return one, other, rest
}

func sameFold(a, b rune) bool {
	if a == b {
		return true
	}
	for next := unicode.SimpleFold(a); next != a; next = unicode.SimpleFold(next) {
		if next == b {
			return true
		}
	}
	return false
}
