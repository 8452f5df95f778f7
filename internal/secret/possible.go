package secret

import (
	"bytes"
	"slices"
)

// gram is how many letters in a row of a text are looked for to see at once that another one can't have it.
const gram = 4

// A glance tells of most texts that they can't have another one in any spelling: neither they nor what they have in
// base64 or hexadecimal digits has any of its letters in a row, and nothing in them spells letters in another way.
type glance struct {
	grams [][]byte
	least int // bytes of what is encoded that are looked at
	text  int // bytes in a row that are text where it is spelled
}

// possible returns what looks at a text; nil where there are too few letters: those in a row may be where a line was
// broken.
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

// may reports whether a text can have it, down to so many encodings in each other, each of so many bytes at least.
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

// signs begin what spells or breaks a letter or a digit, or what spells one of these signs.
var signs = [][]byte{
	[]byte(`\u00`), []byte(`\x`), []byte(`\0`), []byte(`\1`), []byte("\x1b"),
	[]byte("&#"), []byte("&amp;"), []byte("&num;"),
	[]byte("%2"), []byte("%3"), []byte("%4"), []byte("%5"), []byte("%6"), []byte("%7"),
}

// spelled reports whether there is such a sign in what is text.
func (g *glance) spelled(in []byte) bool {
	has := func(part []byte) bool {
		return slices.ContainsFunc(signs, func(sign []byte) bool { return bytes.Contains(part, sign) })
	}
	return has(in) && slices.ContainsFunc(legible(in, g.text), func(part Span) bool { return has(in[part.From:part.To]) })
}

// wideAnywhere reports whether something may be UTF-16: every second byte of some is zero.
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
