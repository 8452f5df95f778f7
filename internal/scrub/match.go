package scrub

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
)

// MinLength is the least size of a fixed text: shorter ones occur by chance.
const MinLength = 6

// ErrShort reports a text shorter than [MinLength].
var ErrShort = fmt.Errorf("it is too short: at least %d bytes are needed", MinLength)

// Fixed returns a finder for a text. Before an ellipsis it finds the text's
// beginning, and after one its end. Lines are found after any margin.
func Fixed(text []byte) (*Finder, error) {
	if len(text) < MinLength {
		return nil, ErrShort
	}
	text = bytes.Clone(text)
	may := possible(text)
	f := &Finder{matchers: []matcher{{exact: true, anywhere: true, least: MinLength, may: may, match: func(in []byte) []Span {
		spans := occurrences(in, text)
		if bytes.Contains(in, ellipsis) {
			spans = join(append(hits(spans), hits(cut(in, text))...))
		}
		return spans
	}}}}
	if lines := linesOf(text); len(lines) > 1 {
		match := func(in []byte) []Span { return listed(in, lines) }
		f.matchers = append(f.matchers, matcher{exact: true, anywhere: true, least: MinLength, may: may, match: match, says: text})
	}
	return f, nil
}

var ellipsis = []byte("…")

func hits(spans []Span) (all []hit) {
	for _, s := range spans {
		all = append(all, hit{Span: s})
	}
	return all
}

func occurrences(in, text []byte) (spans []Span) {
	for from := 0; ; {
		i := bytes.Index(in[from:], text)
		if i < 0 {
			return spans
		}
		from += i + len(text)
		spans = append(spans, Span{from - len(text), from})
	}
}

// cut returns beginnings of a text before an ellipsis, and ends after one.
func cut(in, text []byte) (spans []Span) {
	for _, e := range occurrences(in, ellipsis) {
		for n := min(len(text), e.From); n >= MinLength; n-- {
			if bytes.Equal(in[e.From-n:e.From], text[:n]) {
				spans = append(spans, Span{e.From - n, e.From})
				break
			}
		}
		for n := min(len(text), len(in)-e.To); n >= MinLength; n-- {
			if bytes.Equal(in[e.To:e.To+n], text[len(text)-n:]) {
				spans = append(spans, Span{e.To, e.To + n})
				break
			}
		}
	}
	return spans
}

// Match returns a finder for a regular expression. Line breaks are like any
// other byte; use (?m) for ^ and $.
func Match(pattern string) (*Finder, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, errors.New("the pattern is not a regular expression") // the error would quote it
	}
	if re.Match(nil) {
		return nil, errors.New("the pattern matches the empty text")
	}
	return &Finder{matchers: []matcher{{least: MinLength, anywhere: anywhere(pattern), match: func(in []byte) (spans []Span) {
		for _, m := range re.FindAllIndex(in, -1) {
			if m[0] < m[1] {
				spans = append(spans, Span{m[0], m[1]})
			}
		}
		return spans
	}}}}, nil
}

// anywhere reports whether a pattern has no assertion, such as ^ or \b.
func anywhere(pattern string) bool {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	return err == nil && !asserts(parsed)
}

func asserts(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return true
	}
	return slices.ContainsFunc(re.Sub, asserts)
}
