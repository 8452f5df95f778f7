package scrub

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// gram is the length of the sequences that a text must share with another.
const gram = 4

// A glance tells quickly that most texts, plain or decoded, can't contain a
// text: they share no gram with it, and have no signs of other spellings.
type glance struct {
	grams map[uint32]bool
	bits  [1 << gramBits / 64]uint64 // one for the hash of each gram
	least int                        // the least size of decoded bytes to look at
	text  int                        // the least run of text around a spelling
}

const gramBits = 14

// place returns where bits has a gram.
func place(gram uint32) (at int, bit uint64) {
	hash := gram * 2654435761 >> (32 - gramBits)
	return int(hash / 64), 1 << (hash % 64)
}

// possible returns a function that reports whether a text, perhaps one that was
// encoded, may contain text, or nil if that has too few grams to survive a
// broken line.
func possible(text []byte) func(in []byte, encoded bool) bool {
	g := &glance{grams: make(map[uint32]bool), least: min(len(text), wrapped*3/4), text: MinLength} // a listing breaks what is encoded into lines
	if whole := legible(text, len(text)); len(whole) == 1 {
		g.text = g.least
	}
	apart, last := 0, -gram
	for i := range len(text) - gram + 1 {
		if bytes.ContainsFunc(text[i:i+gram], func(r rune) bool { return r >= 0x80 || letter[byte(r)] >= 62 }) {
			continue
		}
		letters := binary.BigEndian.Uint32(text[i:])
		at, bit := place(letters)
		g.grams[letters] = true
		if g.bits[at] |= bit; i >= last+gram {
			apart, last = apart+1, i
		}
	}
	if apart < 2 {
		return nil
	}
	return func(in []byte, encoded bool) bool {
		if encoded {
			return g.may(in, MinLength, 1) // it may be a part of what is encoded in there
		}
		return g.may(in, g.least, 2)
	}
}

// may reports whether in may contain it, in up to depth encodings of least
// bytes.
func (g *glance) may(in []byte, least, depth int) bool {
	var last uint32
	var strange byte
	for i, c := range in {
		last = last<<8 | uint32(c)
		strange |= strangeness[c]
		if at, bit := place(last); g.bits[at]&bit != 0 && i >= gram-1 && g.grams[last] {
			return true
		}
	}
	if strange&cuts != 0 && bytes.Contains(in, ellipsis) || strange&widens != 0 && wideAnywhere(in) || strange&spells != 0 && g.spelled(in) {
		return true
	}
	for i := 0; i < len(in); {
		from, to := stretch(in, i, 0, &inEscaped)
		if i = to; to-from < letters(least) {
			continue
		}
		if depth == 0 || g.encoded(in[from:to], least, depth) {
			return true
		}
	}
	return false
}

// inEscaped has what runs are made of where they are escaped as well.
var inEscaped = having(func(c byte) bool { return letter[c] != none || c == '%' || c == '\\' })

// What bytes may be a part of, by byte.
const (
	cuts   = 1 << iota // an ellipsis
	widens             // UTF-16
	spells             // one of signs
)

var strangeness = [256]byte{0: widens, '\\': spells, 0x1b: spells, '&': spells, '%': spells, 0xe2: cuts}

// letters is how many letters of base64 encode so many bytes.
func letters(bytes int) int { return (bytes*4 + 2) / 3 }

// encoded reports whether a stretch of letters, with line breaks and escapes,
// may encode it. What is escaped is a letter or the end of a line, as long as
// all of it is escaped alike.
func (g *glance) encoded(stretch []byte, least, depth int) bool {
	var buffer [2][512]byte
	kept, broken := buffer[0][:0], buffer[1][:0] // with what ends lines, and without
	escaped := 0
	for i := 0; i < len(stretch); {
		c := stretch[i]
		switch i++; {
		case c == '%':
			return true // it is perhaps escaped again
		case letter[c] != none:
			kept, broken = append(kept, c), append(broken, c)
		case c == '\\':
			from := i
			for i < len(stretch) && stretch[i] == '\\' {
				i++
			}
			if i == len(stretch) || bytes.IndexByte([]byte("bfnrt"), stretch[i]) < 0 {
				continue
			}
			if n := 1 + i - from; escaped == 0 {
				escaped = n
			} else if n != escaped {
				return true
			}
			kept = append(kept, stretch[i])
			i++
		}
	}
	return g.decodes(kept, least, depth) || len(broken) < len(kept) && g.decodes(broken, least, depth)
}

// decodes reports whether letters may encode it.
func (g *glance) decodes(text []byte, least, depth int) bool {
	if len(text) < letters(least) {
		return false
	}
	var buffer [512]byte
	may := func(decoded []byte) bool { return g.may(decoded, MinLength, depth-1) }
	for off := range min(4, len(text)) {
		if may(fromBase64(buffer[:0], text[off:])) {
			return true
		}
	}
	for _, r := range hexRuns(text, Span{0, len(text)}, least, 0) {
		for off := range 2 {
			if may(fromHex(buffer[:0], text[r.From+off:r.To])) {
				return true
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
