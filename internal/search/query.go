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

// A Query is what is looked for. It may be used by several goroutines.
type Query struct{ terms []term }

// maxTerms is how many terms a query may have.
const maxTerms = 64

// A term is a word or a pattern.
type term struct {
	raw, text finder // pass over lines of JSON, and of text, that can't match
	find      func(line []byte, most int) [][]int
}

// Words looks for texts that have all of these words. What is given as one word may have blanks in
// it; one of nothing else is left out.
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

// Patterns looks for texts that match all of these regular expressions, of Go's syntax. The smart case
// looks at letters, not at classes such as \S.
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
	return term{
		raw:  newFinder(safest(runes), fold).inJSON(),
		text: whole,
		find: func(line []byte, most int) [][]int { return whole.find(line, runes, fold, most) },
	}
}

// notLetters are the parts of a pattern whose letters say nothing about case.
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
	return term{
		raw:  newFinder(safest(runes), fold).inJSON(),
		text: newFinder(runes, fold),
		find: re.FindAllIndex,
	}, nil
}

// literal returns the longest text that is in everything that a pattern matches, as far as that is
// easily seen, and whether it may be in any case.
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

// safest returns the longest part of a text that stands in JSON as in the text, or in escapes of the
// form \u0000 and \/. It has no blank and none of the characters that we put between parts of JSON.
func safest(text []rune) []rune {
	var longest []rune
	start := 0
	for i := 0; i <= len(text); i++ {
		if i < len(text) && text[i] > ' ' && !strings.ContainsRune(`"\()!`+"\uFFFD", text[i]) {
			continue
		}
		if i-start > len(longest) {
			longest = text[start:i]
		}
		start = i + 1
	}
	return longest
}

// spellings returns the ways to write a character: itself, the other case that takes as many bytes,
// which may be the same, and all others.
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

// sameFold reports whether two characters differ in nothing but case.
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
