package secret

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
)

// MinLength is how many bytes a fixed text must have: shorter ones stand everywhere by chance.
const MinLength = 6

// ErrShort reports a text that is too short to be looked for.
var ErrShort = fmt.Errorf("it is too short: at least %d bytes are needed", MinLength)

// Fixed looks for a text. Where a text was cut, as the prompt in a record, its beginning counts before
// the ellipsis, and its end behind it. One of several lines is found whatever stands before each of them.
func Fixed(text []byte) (*Finder, error) {
	if len(text) < MinLength {
		return nil, ErrShort
	}
	text = bytes.Clone(text)
	may := possible(text)
	f := &Finder{matchers: []matcher{{exact: true, least: MinLength, may: may, match: func(in []byte) []Span {
		spans := occurrences(in, text)
		if bytes.Contains(in, ellipsis) {
			spans = join(append(hits(spans), hits(cut(in, text))...))
		}
		return spans
	}}}}
	if lines := linesOf(text); len(lines) > 1 {
		match := func(in []byte) []Span { return listed(in, lines) }
		f.matchers = append(f.matchers, matcher{exact: true, least: MinLength, may: may, match: match, says: text})
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

// occurrences are where a text stands in another one.
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

// cut are beginnings of a text before an ellipsis, and ends behind one.
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

// Match looks for a pattern, as package regexp has it. A line break counts as any other byte; use (?m)
// for ^ and $.
func Match(pattern string) (*Finder, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, errors.New("the pattern is not a regular expression") // the error would quote it
	}
	if re.Match(nil) {
		return nil, errors.New("the pattern matches the empty text")
	}
	return &Finder{matchers: []matcher{{least: MinLength, match: func(in []byte) (spans []Span) {
		for _, m := range re.FindAllIndex(in, -1) {
			if m[0] < m[1] {
				spans = append(spans, Span{m[0], m[1]})
			}
		}
		return spans
	}}}}, nil
}
