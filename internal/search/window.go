package search

import (
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// A charset is what may stand at one place of a match.
type charset struct {
	ascii [utf8.RuneSelf]bool
	more  bool // characters beyond ASCII, too
}

func (c *charset) add(from, to rune) {
	for r := from; r <= min(to, utf8.RuneSelf-1); r++ {
		c.ascii[r] = true
	}
	c.more = c.more || to >= utf8.RuneSelf
}

// asIs reports whether JSON writes each of them as it is or with \u0000, see
// [safest].
func (c *charset) asIs() bool {
	for r, is := range c.ascii {
		if is && (r == '/' || !safe(rune(r))) {
			return false
		}
	}
	return true
}

// maxWindow bounds a window.
const maxWindow = 32

// A shape is what is known of all matches of a part of a pattern.
type shape struct {
	first, last []charset // what they begin and end with
	best        []charset // the longest of what is anywhere in them
	exact       bool      // they are first and no more
}

// exactly is the shape of a list shorter than maxWindow.
func exactly(list []charset) shape { return shape{list, list, list, true} }

// shapeOf returns what is easily seen to be in all matches, place by place.
func shapeOf(re *syntax.Regexp) shape {
	switch re.Op {
	case syntax.OpLiteral:
		if len(re.Rune) >= maxWindow {
			break // a literal is better
		}
		var list []charset
		for _, r := range re.Rune {
			var c charset
			one, other, rest := spellings(r, re.Flags&syntax.FoldCase != 0)
			for _, b := range append(rest, one, other) {
				r, _ := utf8.DecodeRune(b)
				c.add(r, r)
			}
			list = append(list, c)
		}
		return exactly(list)
	case syntax.OpCharClass:
		var c charset
		for i := 0; i+1 < len(re.Rune); i += 2 {
			c.add(re.Rune[i], re.Rune[i+1])
		}
		return exactly([]charset{c})
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return exactly(nil)
	case syntax.OpCapture:
		return shapeOf(re.Sub[0])
	case syntax.OpPlus:
		s := shapeOf(re.Sub[0])
		s.exact = false
		return s
	case syntax.OpRepeat:
		sub := shapeOf(re.Sub[0])
		s := exactly(nil)
		for range min(re.Min, maxWindow) {
			s = s.then(sub)
		}
		s.exact = s.exact && re.Max == re.Min
		return s
	case syntax.OpConcat:
		s := exactly(nil)
		for _, sub := range re.Sub {
			s = s.then(shapeOf(sub))
		}
		return s
	case syntax.OpAlternate:
		s := shapeOf(re.Sub[0])
		for _, sub := range re.Sub[1:] {
			s = s.or(shapeOf(sub))
		}
		return s
	}
	return shape{} // anything, or nothing
}

// then is the shape of s and what follows it.
func (s shape) then(next shape) shape {
	joined := append(s.last[:len(s.last):len(s.last)], next.first...)
	all := shape{first: s.first, last: next.last, best: longest(s.best, longest(next.best, joined[:min(len(joined), maxWindow)]))}
	if s.exact {
		all.first = joined[:min(len(joined), maxWindow)]
	}
	if next.exact {
		all.last = joined[max(0, len(joined)-maxWindow):]
	}
	all.exact = s.exact && next.exact && len(joined) < maxWindow
	return all
}

// or is the shape of either.
func (s shape) or(other shape) shape {
	both := func(a, b []charset) []charset {
		list := make([]charset, min(len(a), len(b)))
		for i := range list {
			list[i] = a[i]
			for r, is := range b[i].ascii {
				list[i].ascii[r] = list[i].ascii[r] || is
			}
			list[i].more = list[i].more || b[i].more
		}
		return list
	}
	if s.exact && other.exact && len(s.first) == len(other.first) {
		return exactly(both(s.first, other.first))
	}
	return shape{best: both(s.best, other.best)}
}

func longest(a, b []charset) []charset {
	if len(b) > len(a) {
		return b
	}
	return a
}

// asIs returns the longest part that JSON writes as it is.
func asIs(window []charset) (part []charset) {
	start := 0
	for i := 0; i <= len(window); i++ {
		if i < len(window) && window[i].asIs() {
			continue
		}
		part = longest(part, window[start:i])
		start = i + 1
	}
	return part
}

// safe reports whether JSON writes a character as it is, or with \u0000 and \/,
// and texts are not joined with it.
func safe(r rune) bool { return r > ' ' && !strings.ContainsRune(`"\()!`+"\uFFFD", r) }

// A sieve finds where a window may be.
type sieve [][256]uint8 // for each place, how much farther a window begins at least if a byte is there; 0 for one in it

func newSieve(window []charset) sieve {
	s := make(sieve, len(window))
	for at := range s {
		for b := range s[at] {
			for at-int(s[at][b]) >= 0 && (b >= utf8.RuneSelf || !window[at-int(s[at][b])].ascii[b]) {
				s[at][b]++
			}
		}
	}
	return s
}

// next returns the first place from an offset on where all are in their places,
// or len(b).
func (s sieve) next(b []byte, from int) int {
	for from+len(s) <= len(b) {
		skip := uint8(0)
		for at := len(s) - 1; at >= 0 && skip == 0; at-- {
			skip = s[at][b[from+at]]
		}
		if skip == 0 {
			return from
		}
		from += int(skip)
	}
	return len(b)
}

// beyond returns the place of the next byte that is not ASCII.
func beyond(b []byte, from int) int {
	for ; from < len(b) && b[from] < utf8.RuneSelf; from++ {
	}
	return from
}

// newSieved returns the finder of a window.
func newSieved(window []charset) finder {
	f := finder{ascii: true}
	if len(window) > 0 {
		f.sieve = newSieve(window)
	}
	for _, c := range window {
		f.ascii = f.ascii && !c.more
	}
	if !f.ascii {
		f.odd = append(f.odd, beyond)
	}
	return f
}
