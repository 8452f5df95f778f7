// Package scrub finds one secret in texts, however it is spelled: escaped,
// encoded, wrapped or split. It decodes and compares, without a list of
// spellings ([layers]).
//
// A [Finder] looks for a text, a pattern, or what this repository remembers by
// keyed hash ([Memory]), so that nothing purged is recorded again.
package scrub

import (
	"bytes"
	"hash/maphash"
	"slices"
	"unicode/utf8"
)

// Mark replaces what was purged.
const Mark = "[redacted:purged]"

// A Span is a part of a text, in bytes: from From to before To.
type Span struct{ From, To int }

// A Finder finds secrets, the zero Finder none. It is safe for concurrent use.
type Finder struct {
	matchers []matcher
	isPrompt func(text string) bool // of a turn that was purged as a whole; nil if there is none
	lacking  hashes                 // of texts in which nothing was found: what is recorded is cleaned where it is read and where it is written
}

// A matcher finds one secret in a decoded text.
type matcher struct {
	// match returns where the text has it.
	match func(text []byte) []Span
	least int // the least size in bytes where it is encoded
	// may reports whether a text, perhaps one that was encoded, may have it in
	// any spelling; nil if unknown.
	may   func(text []byte, encoded bool) bool
	exact bool // a text: lines may be joined, where a pattern would match on into the next
	// anywhere says that what is found in a part of a text is found in it all.
	anywhere bool
	// says is the secret, if what is found has something in between; else nil.
	says []byte
}

// Or returns a finder for all that the given ones find.
func Or(finders ...*Finder) *Finder {
	all := new(Finder)
	for _, f := range finders {
		if f != nil {
			all.matchers = append(all.matchers, f.matchers...)
		}
	}
	return all
}

// IsPrompt reports whether a text is a prompt of a purged turn in a [Memory].
func (f *Finder) IsPrompt(text string) bool { return f != nil && f.isPrompt != nil && f.isPrompt(text) }

// Empty reports whether f never finds anything, also if nil.
func (f *Finder) Empty() bool { return f == nil || len(f.matchers) == 0 }

// Anywhere reports whether what f finds in a part of a text, as in a line, it
// also finds in the whole: no pattern asks where the text begins or ends.
func (f *Finder) Anywhere() bool {
	return !slices.ContainsFunc(f.matchers, func(m matcher) bool { return !m.anywhere })
}

// A hit is the place of a secret, and the decoded secret.
type hit struct {
	Span
	text []byte
}

// depth limits nested layers, as a coloured listing in JSON in JSON in JSON.
const depth = 5

// Spans returns where a text has the secret, sorted and apart. A span covers
// whole escapes and whole encoded runs.
func (f *Finder) Spans(text []byte) []Span { return join(f.search(text)) }

// Found returns the secrets in a text, decoded, each once.
func (f *Finder) Found(text []byte) [][]byte {
	var found [][]byte
	for _, h := range f.search(text) {
		if !slices.ContainsFunc(found, func(b []byte) bool { return bytes.Equal(b, h.text) }) {
			found = append(found, h.text)
		}
	}
	return found
}

// Replace replaces each span by [Mark]; without any it returns text itself. For
// JSON use [Finder.ReplaceJSON].
func (f *Finder) Replace(text []byte) []byte { return replace(text, f.Spans(text)) }

// Rounds bounds how often a text is searched again: a mark may reveal more.
const Rounds = 4

// Clean replaces what f, perhaps nil, finds until it finds nothing more. ok is
// false if something remains.
func (f *Finder) Clean(text []byte) (out []byte, ok bool) {
	for range Rounds {
		next := f.Replace(text)
		if bytes.Equal(next, text) {
			return text, len(f.Spans(text)) == 0
		}
		text = next
	}
	return text, len(f.Spans(text)) == 0
}

func replace(text []byte, spans []Span) []byte {
	if len(spans) == 0 {
		return text
	}
	var out []byte
	end := 0
	for _, s := range spans {
		out = append(append(out, text[end:s.From]...), Mark...)
		end = s.To
	}
	return append(out, text[end:]...)
}

// join sorts spans and merges those that overlap.
func join(hits []hit) []Span {
	slices.SortFunc(hits, func(a, b hit) int {
		if a.From != b.From {
			return a.From - b.From
		}
		return a.To - b.To
	})
	var spans []Span
	for _, h := range hits {
		if n := len(spans); n > 0 && h.From < spans[n-1].To {
			spans[n-1].To = max(spans[n-1].To, h.To)
			continue
		}
		spans = append(spans, h.Span)
	}
	return spans
}

// search finds the secrets in a text as it is and decoded in every way.
func (f *Finder) search(text []byte) []hit {
	if f.Empty() {
		return nil
	}
	least := f.matchers[0].least
	patterns := false
	for _, m := range f.matchers {
		least, patterns = min(least, m.least), patterns || !m.exact
	}
	possible := func(m matcher) bool { return m.may == nil || m.may(text, false) }
	if !slices.ContainsFunc(f.matchers, possible) {
		return nil
	}
	if !patterns && len(text) < least/2 { // nothing is read as twice as much
		return nil
	}
	hash := maphash.Bytes(seed, text)
	if f.lacking.has(hash) {
		return nil
	}
	s := &search{matchers: f.matchers, least: least, patterns: patterns, noise: make(map[noise]bool)}
	hits := s.in(text, depth, outermost, false)
	if len(hits) == 0 {
		f.lacking.add(hash)
	}
	return hits
}

// A search is the search of one text.
type search struct {
	matchers []matcher
	least    int
	patterns bool // not all matchers are exact

	buffers [2][]byte // for what runs mean

	// seen has hashes of decoded texts, as two layers can give the same. It is
	// for one part of a text: in another the place differs.
	seen map[uint64]bool
	// noise has hashes of runs that encode nothing of it: most layers leave them
	// as they are.
	noise map[noise]bool
}

// A noise is a hash of a run's letters, and what they were taken for.
type noise struct {
	letters uint64
	hex     bool
}

var seed = maphash.MakeSeed()

// in searches a text from a layer of rank above, perhaps with joined lines.
func (s *search) in(text []byte, depth int, above rank, joined bool) (hits []hit) {
	for _, m := range s.matchers {
		if joined && !m.exact {
			continue
		}
		for _, span := range m.match(text) {
			said := m.says
			if said == nil {
				said = text[span.From:span.To]
			}
			hits = append(hits, hit{span, said})
		}
	}
	if depth == 0 {
		return hits
	}
	hits = append(hits, s.decoded(text, depth, above, joined, func(r rank) bool { return r == widening })...)
	for _, part := range legible(text, s.least) {
		of := s
		if part.To-part.From < len(text) {
			of = s.anew()
		}
		found := of.decoded(text[part.From:part.To], depth, above, joined, func(r rank) bool { return r != widening })
		for _, h := range found {
			h.From, h.To = h.From+part.From, h.To+part.From
			hits = append(hits, h)
		}
	}
	for _, span := range runs(text, s.least) {
		letters := noise{maphash.Bytes(seed, text[span.From:span.To]), span.hex}
		if s.noise[letters] {
			continue
		}
		before, of := len(hits), s.anew()
		span.decodings(text, &s.buffers, func(decoded []byte) {
			if s.patterns && !printable(decoded) {
				return // a pattern may match noise
			}
			if !slices.ContainsFunc(s.matchers, func(m matcher) bool { return m.may == nil || m.may(decoded, true) }) {
				return
			}
			of.seen = nil
			for _, h := range of.in(decoded, min(depth-1, 2), outermost, joined) {
				hits = append(hits, hit{span.Span, bytes.Clone(h.text)})
			}
		})
		if len(hits) == before && depth > 2 && !joined { // else less was looked for than may be elsewhere
			s.noise[letters] = true
		}
	}
	return hits
}

// anew returns the search for another part of a text.
func (s *search) anew() *search {
	return &search{matchers: s.matchers, least: s.least, patterns: s.patterns, noise: s.noise}
}

// decoded searches what layers of some ranks make of a text.
func (s *search) decoded(text []byte, depth int, above rank, joined bool, of func(rank) bool) (hits []hit) {
	for _, l := range layers {
		if !of(l.rank) || !l.rank.within(above) {
			continue
		}
		v, ok := l.decode(text)
		if !ok {
			continue
		}
		hash := maphash.Bytes(seed, v.text)
		if s.seen[hash] {
			continue
		}
		if s.seen == nil {
			s.seen = make(map[uint64]bool)
		}
		s.seen[hash] = true
		for _, h := range s.in(v.text, depth-1, l.rank, joined || l.rank == joining) {
			h.Span = v.source(h.Span)
			hits = append(hits, h)
		}
	}
	return hits
}

// legible returns the parts that are text: binary data has all signs by chance.
func legible(text []byte, least int) (parts []Span) {
	from := 0
	end := func(to int) {
		if to-from >= least {
			parts = append(parts, Span{from, to})
		}
	}
	for i := 0; i < len(text); {
		if isText[text[i]] {
			i++
			continue
		}
		if text[i] >= utf8.RuneSelf && i+1 < len(text) && !utf8.RuneStart(text[i+1]) {
			if _, n := utf8.DecodeRune(text[i:]); n > 1 {
				i += n
				continue
			}
		}
		end(i)
		i++
		from = i
	}
	end(len(text))
	return parts
}

// isText has the bytes that are letters of a text alone.
var isText = having(func(c byte) bool {
	return c >= ' ' && c < 0x7f || bytes.IndexByte([]byte("\n\r\t\b\f\a\x1b"), c) >= 0
})

// printable reports whether a person may have written a text.
func printable(text []byte) bool {
	return utf8.Valid(text) && !bytes.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' && r != '\r' })
}
