// Package secret finds one secret in texts, however it is spelled there: escaped, encoded, wrapped
// or split. It decodes what it reads and compares, and has no list of spellings ([layers]).
//
// A [Finder] looks for a text, for a pattern, or for what this repository remembers by keyed hash
// ([Memory]): what was purged must not be recorded again.
package secret

import (
	"bytes"
	"hash/maphash"
	"slices"
	"unicode/utf8"
)

// Mark takes the place of what was purged.
const Mark = "[redacted:purged]"

// A Span is a part of a text, in bytes: from From to before To.
type Span struct{ From, To int }

// A Finder finds secrets. It is safe for concurrent use. The zero Finder finds nothing.
type Finder struct {
	matchers []matcher
	isPrompt func(text string) bool // of a turn that was purged as a whole; nil if there is none
}

// A matcher finds one secret in a text that is decoded.
type matcher struct {
	// match returns where the text has it.
	match func(text []byte) []Span
	least int // bytes that it has at least where it is encoded
	// may reports whether a text can have it in any spelling; nil if that takes a search.
	may   func(text []byte) bool
	exact bool // it is one text, so that lines may be joined: a pattern would go on in the next one
	// says is the secret itself, where what is found says it with something between; nil if it is what is found.
	says []byte
}

// Or finds what any of several finders finds.
func Or(finders ...*Finder) *Finder {
	all := new(Finder)
	for _, f := range finders {
		if f != nil {
			all.matchers = append(all.matchers, f.matchers...)
		}
	}
	return all
}

// IsPrompt reports whether a text is the prompt of a turn that was purged as a whole, by what a [Memory] knows.
func (f *Finder) IsPrompt(text string) bool { return f != nil && f.isPrompt != nil && f.isPrompt(text) }

// Empty reports whether it finds nothing, whatever the text; a nil Finder does not.
func (f *Finder) Empty() bool { return f == nil || len(f.matchers) == 0 }

// A hit is where a text has a secret, and the secret as it was decoded.
type hit struct {
	Span
	text []byte
}

// depth is how many layers may lie above each other: JSON in JSON in JSON that quotes a numbered
// listing in colours.
const depth = 5

// Spans returns where a text has the secret, in order, without overlaps. A span covers whole escapes
// of the text; of an encoded run it covers all.
func (f *Finder) Spans(text []byte) []Span { return join(f.search(text)) }

// Found returns the secrets that a text has, decoded, each once.
func (f *Finder) Found(text []byte) [][]byte {
	var found [][]byte
	for _, h := range f.search(text) {
		if !slices.ContainsFunc(found, func(b []byte) bool { return bytes.Equal(b, h.text) }) {
			found = append(found, h.text)
		}
	}
	return found
}

// Replace puts [Mark] in the place of every span. It returns text itself if there is none. For JSON
// there is [Finder.ReplaceJSON].
func (f *Finder) Replace(text []byte) []byte { return replace(text, f.Spans(text)) }

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

// join puts spans in order, and makes one of those that overlap.
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

// search finds the secrets in a text as it stands and in every way to decode it.
func (f *Finder) search(text []byte) []hit {
	if f.Empty() {
		return nil
	}
	least := f.matchers[0].least
	patterns := false
	for _, m := range f.matchers {
		least, patterns = min(least, m.least), patterns || !m.exact
	}
	possible := func(m matcher) bool { return m.may == nil || m.may(text) }
	if !slices.ContainsFunc(f.matchers, possible) {
		return nil
	}
	s := &search{matchers: f.matchers, least: least, patterns: patterns}
	return s.in(text, depth, outermost, false)
}

// A search is that through one text.
type search struct {
	matchers []matcher
	least    int
	patterns bool // not all matchers are exact

	// seen has the hashes of what a part of a text was decoded to: two layers can give the same. In another part it
	// stands somewhere else.
	seen map[uint64]bool
}

var seed = maphash.MakeSeed()

// in finds the secrets in a text that was decoded by a layer of a rank. joined is whether lines were joined
// in it.
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
		for _, decoded := range span.decodings(text) {
			if s.patterns && !printable(decoded) {
				continue // a pattern may match noise
			}
			if found := s.anew().in(decoded, min(depth-1, 2), outermost, joined); len(found) > 0 {
				hits = append(hits, hit{span.Span, found[0].text})
				for _, h := range found[1:] {
					hits = append(hits, hit{span.Span, h.text})
				}
			}
		}
	}
	return hits
}

// anew is the same search of another part of a text.
func (s *search) anew() *search {
	return &search{matchers: s.matchers, least: s.least, patterns: s.patterns}
}

// decoded finds the secrets in what the layers of some ranks make of a text.
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

// legible returns the parts of a text that are text: nobody escapes or lists noise, which has every sign of it.
func legible(text []byte, least int) (parts []Span) {
	from := 0
	end := func(to int) {
		if to-from >= least {
			parts = append(parts, Span{from, to})
		}
	}
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c >= utf8.RuneSelf:
			if _, n := utf8.DecodeRune(text[i:]); n > 1 {
				i += n
				continue
			}
		case c >= ' ' && c != 0x7f, c == '\n', c == '\r', c == '\t', c == '\b', c == '\f', c == 0x07, c == 0x1b:
			i++
			continue
		}
		end(i)
		i++
		from = i
	}
	end(len(text))
	return parts
}

// printable reports whether a text is one that a person can have written.
func printable(text []byte) bool {
	return utf8.Valid(text) && !bytes.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' && r != '\r' })
}
