package search

import (
	"bytes"
	"unicode/utf8"
)

// A finder finds where a text may be, in either case. The zero finder knows nothing of the text, which
// may be anywhere.
type finder struct {
	one, other []byte // the two ways to write each byte
	rare       int    // the place of the one that is rarest
	odd        []func(b []byte, from int) int

	ascii, slash bool
}

// common are the bytes of transcripts, the most frequent first.
const common = " e\"tnaoris\\lducp,m:fh-gbv0y_.12/w543698k7{}()[]=;xz`'jq<>*#"

// newFinder makes the finder of a text, of all its cases with fold.
func newFinder(text []rune, fold bool) finder {
	f := finder{ascii: true}
	for _, r := range text {
		one, other, rest := spellings(r, fold)
		f.one, f.other = append(f.one, one...), append(f.other, other...)
		for _, b := range rest {
			f.odd = append(f.odd, func(s []byte, from int) int { return index(s, from, b) })
		}
		f.ascii = f.ascii && r < utf8.RuneSelf && len(rest) == 0
		f.slash = f.slash || r == '/'
	}
	rarity := func(i int) int {
		n := bytes.IndexByte([]byte(common), bytes.ToLower(f.one[i : i+1])[0])
		if n < 0 {
			n = len(common)
		}
		return 2*n - min(1, int(f.one[i]^f.other[i])) // one way to write it is better than two
	}
	for i := range f.one {
		if rarity(i) > rarity(f.rare) {
			f.rare = i
		}
	}
	return f
}

// inJSON is the finder for JSON, which may have characters in escapes.
func (f finder) inJSON() finder {
	if len(f.one) == 0 {
		return f
	}
	ascii := f.ascii
	f.odd = append(f.odd[:len(f.odd):len(f.odd)], func(b []byte, from int) int { return escape(b, from, ascii) })
	if f.slash {
		f.odd = append(f.odd, func(b []byte, from int) int { return index(b, from, []byte(`\/`)) })
	}
	return f
}

// index returns where part is in b, from an offset on; len(b) if it isn't.
func index(b []byte, from int, part []byte) int {
	if i := bytes.Index(b[from:], part); i >= 0 {
		return from + i
	}
	return len(b)
}

// escape returns where JSON has an escape of a character, from an offset on; of one of ASCII if the
// others don't count. Control characters, with which what programs print is full, never do.
func escape(b []byte, from int, ascii bool) int {
	for at := from; ; at++ {
		at = index(b, at, []byte(`\u`))
		hex := b[min(len(b), at+2):min(len(b), at+6)]
		switch low := len(hex) == 4 && hex[0] == '0' && hex[1] == '0'; {
		case at == len(b):
			return at
		case low && hex[2] <= '1', ascii && !(low && hex[2] <= '7'):
		default:
			return at
		}
	}
}

// A seeker goes through the places where a text may be.
type seeker struct {
	f          *finder
	b          []byte
	one, other int   // the next places of the rarest byte, in the two ways to write it
	odd        []int // and of what is odd
}

func (f *finder) seek(b []byte) *seeker {
	s := &seeker{f: f, b: b, one: -1, other: -1, odd: make([]int, len(f.odd))}
	for i := range s.odd {
		s.odd[i] = -1
	}
	return s
}

// next returns the first place from an offset on where the text may be; len(b) if there is none.
func (s *seeker) next(from int) int {
	if len(s.f.one) == 0 {
		return min(from, len(s.b))
	}
	at := s.plain(from)
	for i, odd := range s.f.odd {
		if s.odd[i] < from {
			s.odd[i] = odd(s.b, from)
		}
		at = min(at, s.odd[i])
	}
	return at
}

// plain is next for the two ways alone.
func (s *seeker) plain(from int) int {
	one, other := s.f.one, s.f.other
	for at := from + s.f.rare; at < len(s.b); at++ {
		if s.one < at {
			s.one = s.byte(at, one[s.f.rare])
		}
		if s.other < at {
			if s.other = s.one; one[s.f.rare] != other[s.f.rare] {
				s.other = s.byte(at, other[s.f.rare])
			}
		}
		at = min(s.one, s.other)
		if start := at - s.f.rare; s.is(start) {
			return start
		}
	}
	return len(s.b)
}

func (s *seeker) byte(from int, c byte) int {
	if i := bytes.IndexByte(s.b[from:], c); i >= 0 {
		return from + i
	}
	return len(s.b)
}

// is reports whether the text is at a place.
func (s *seeker) is(at int) bool {
	one, other := s.f.one, s.f.other
	if at+len(one) > len(s.b) {
		return false
	}
	for i, c := range s.b[at : at+len(one)] {
		if c != one[i] && c != other[i] {
			return false
		}
	}
	return true
}

// find returns where the text, which the finder is of, begins and ends in a line, at most so often.
func (f *finder) find(line []byte, text []rune, fold bool, most int) (found [][]int) {
	s := f.seek(line)
	end := 0
	for at := s.next(0); at < len(line) && len(found) < most; at = s.next(max(at+1, end)) {
		start := at
		if len(f.odd) > 0 { // what is odd may be in the middle of the text
			start = max(end, at-utf8.UTFMax*len(text))
		}
		for ; start <= at; start++ {
			if n := prefix(line[start:], text, fold); n > 0 {
				end = start + n
				found = append(found, []int{start, end})
				break
			}
		}
	}
	return found
}

// prefix returns how long the text is at the beginning of b, 0 if it isn't there.
func prefix(b []byte, text []rune, fold bool) int {
	n := 0
	for _, want := range text {
		r, size := utf8.DecodeRune(b[n:])
		if size == 0 || r != want && !(fold && sameFold(want, r)) || r == utf8.RuneError && size == 1 {
			return 0
		}
		n += size
	}
	return n
}
