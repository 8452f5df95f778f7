package scrub

import (
	"bytes"
	"slices"
)

// gram is the length of the sequences that a text must share with another.
const gram = 4

// A glance tells quickly that most texts, plain or decoded, can't contain a
// text: they share no gram with it, and have no signs of other spellings.
type glance struct {
	grams [][]byte
	least int // the least size of decoded bytes to look at
	text  int // the least run of text around a spelling
}

// possible returns a function that reports whether a text may contain text, or
// nil if that has too few grams to survive a broken line.
func possible(text []byte) func(in []byte) bool {
	g := &glance{least: min(len(text), wrapped*3/4), text: MinLength} // a listing breaks what is encoded into lines
	if whole := legible(text, len(text)); len(whole) == 1 {
		g.text = g.least
	}
	apart, last := 0, -gram
	for i := range len(text) - gram + 1 {
		if bytes.ContainsFunc(text[i:i+gram], func(r rune) bool { return r >= 0x80 || letter[byte(r)] >= 62 }) {
			continue
		}
		if g.grams = append(g.grams, text[i:i+gram]); i >= last+gram {
			apart, last = apart+1, i
		}
	}
	if apart < 2 {
		return nil
	}
	return func(in []byte) bool { return g.may(in, g.least, 2) }
}

// may reports whether in may contain it, in up to depth encodings of least
// bytes.
func (g *glance) may(in []byte, least, depth int) bool {
	for _, letters := range g.grams {
		if bytes.Contains(in, letters) {
			return true
		}
	}
	if bytes.Contains(in, ellipsis) || wideAnywhere(in) || g.spelled(in) {
		return true
	}
	for i := 0; i < len(in); {
		from, to := stretch(in, i, 0, func(c byte) bool { return letter[c] != none || c == '%' || c == '\\' })
		if i = to; to-from < (least*4+2)/3 {
			continue
		}
		if depth == 0 || bytes.ContainsAny(in[from:to], `%\`) { // it is perhaps escaped again
			return true
		}
		encoded := Span{from, to}
		for _, r := range append(hexRuns(in, encoded, least, 0), run{Span: encoded}) {
			for _, decoded := range r.decodings(in) {
				if g.may(decoded, MinLength, depth-1) { // it may be a part of what is encoded in there
					return true
				}
			}
		}
	}
	return false
}

// signs begin what spells or breaks a letter or digit, or one of these signs.
var signs = [][]byte{
	[]byte(`\u00`), []byte(`\x`), []byte(`\0`), []byte(`\1`), []byte("\x1b"),
	[]byte("&#"), []byte("&amp;"), []byte("&num;"),
	[]byte("%2"), []byte("%3"), []byte("%4"), []byte("%5"), []byte("%6"), []byte("%7"),
}

// spelled reports whether a sign occurs in a legible part.
func (g *glance) spelled(in []byte) bool {
	has := func(part []byte) bool {
		return slices.ContainsFunc(signs, func(sign []byte) bool { return bytes.Contains(part, sign) })
	}
	return has(in) && slices.ContainsFunc(legible(in, g.text), func(part Span) bool { return has(in[part.From:part.To]) })
}

// wideAnywhere reports whether every second byte of some is zero, as in UTF-16.
func wideAnywhere(in []byte) bool {
	for i := 0; ; i++ {
		next := bytes.IndexByte(in[i:], 0)
		if i += next; next < 0 || i+2*(inRow-1) >= len(in) {
			return false
		}
		zeros := 1
		for zeros < inRow && in[i+2*zeros] == 0 {
			zeros++
		}
		if zeros == inRow {
			return true
		}
	}
}
