package search

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// A finder finds where a text may be: everywhere for the zero finder.
type finder struct {
	one, other []byte // each byte's two spellings
	rare       pair   // of the rarest
	offset     int    // of the first of them
	sieve      sieve  // or else of what may stand at each place
	odd        []func(b []byte, from int) int

	ascii, slash bool
	whole        bool // whatever has one or other is a match
}

// common lists the bytes of transcripts, the most frequent first.
const common = " e\"tnaoris\\lducp,m:fh-gbv0y_.12/w543698k7{}()[]=;xz`'jq<>*#"

// newFinder returns the finder of text, with fold in any case.
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
		return 2*n - min(1, int(f.one[i]^f.other[i])) // one spelling is better than two
	}
	var places []int
	for i := range f.one {
		places = append(places, i)
	}
	slices.SortStableFunc(places, func(i, j int) int { return rarity(j) - rarity(i) })
	if len(places) > 0 {
		two := places[:min(2, len(places))]
		first, second := slices.Min(two), slices.Max(two)
		f.rare, f.offset = newPair(f.one[first], f.other[first], f.one[second], f.other[second], second-first), first
	}
	return f
}

func (f *finder) everywhere() bool { return len(f.one)+len(f.sieve) == 0 }

// inJSON returns the finder for JSON, where escapes may hide characters.
func (f finder) inJSON() finder {
	if f.everywhere() {
		return f
	}
	ascii := f.ascii
	f.odd = f.odd[:len(f.odd):len(f.odd)]
	if f.slash {
		f.odd = append(f.odd, func(b []byte, from int) int { return index(b, from, []byte(`\/`)) })
	}
	f.odd = append(f.odd, func(b []byte, from int) int { return escape(b, from, ascii) })
	return f
}

// inPlain returns the finder for JSON without escapes, given that of any JSON.
func (f finder) inPlain() finder {
	if !f.everywhere() {
		f.odd = f.odd[:len(f.odd)-1]
	}
	return f
}

func index(b []byte, from int, part []byte) int {
	if i := bytes.Index(b[from:], part); i >= 0 {
		return from + i
	}
	return len(b)
}

// escape returns the offset of the next escape in JSON, with ascii of an ASCII
// character. Control characters, of which output is full, don't count.
func escape(b []byte, from int, ascii bool) int {
	for at := from; ; at++ {
		at = escaped.next(b, at)
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

var escaped = newPair('\\', '\\', 'u', 'u', 1)

// A seeker walks the places where a text may be.
type seeker struct {
	f   *finder
	b   []byte
	at  int   // the place that was found last, or -1
	odd []int // the next ones of f.odd
}

func (f *finder) seek(b []byte) seeker {
	s := seeker{f: f, b: b, at: -1}
	if len(f.odd) > 0 {
		s.odd = make([]int, len(f.odd))
	}
	for i := range s.odd {
		s.odd[i] = -1
	}
	return s
}

// escape returns the next escape in JSON, after a call of next.
func (s *seeker) escape() int {
	if s.f.everywhere() {
		return 0
	}
	return s.odd[len(s.odd)-1]
}

// next returns the first place from an offset on for the text, or len(b).
func (s *seeker) next(from int) int {
	if s.f.everywhere() {
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

// plain is next without odd spellings.
func (s *seeker) plain(from int) int {
	if s.f.sieve != nil {
		return s.f.sieve.next(s.b, from)
	}
	for at := from + s.f.offset; ; at++ {
		at = s.f.rare.next(s.b, at)
		if at == len(s.b) {
			return at
		}
		if start := at - s.f.offset; s.is(start) {
			return start
		}
	}
}

// sure reports whether the text is at the place that was found in JSON, as it is
// there: not in part in an escape, nor in another spelling.
func (s *seeker) sure(end int) bool {
	const longest = len(`\u0000`)
	return s.f.whole && s.at < end && bytes.IndexByte(s.b[max(0, s.at-longest+1):s.at], '\\') < 0 && s.is(s.at)
}

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

// find returns up to most places of text in line; f is text's finder.
func (f *finder) find(line []byte, text []rune, fold bool, most int) (found [][]int) {
	s := f.seek(line)
	end := 0
	for at := s.next(0); at < len(line) && len(found) < most; at = s.next(max(at+1, end)) {
		start := at
		if len(f.odd) > 0 { // that may be in the middle of the text
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

// prefix returns the length of text at the beginning of b, or 0.
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
