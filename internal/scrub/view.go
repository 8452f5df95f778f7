package scrub

import "sort"

// A view is a decoded text, and where its parts come from.
type view struct {
	text   []byte
	pieces []piece // in order; they hold all of the text
}

// A piece is n decoded bytes at at, from size bytes at from. If the sizes are
// equal it is a copy, otherwise one unit.
type piece struct{ at, n, from, size int }

func (v *view) copy(source []byte, from, to int) {
	if from < to {
		v.pieces = append(v.pieces, piece{len(v.text), to - from, from, to - from})
		v.text = append(v.text, source[from:to]...)
	}
}

func (v *view) put(decoded []byte, from, to int) {
	v.pieces = append(v.pieces, piece{len(v.text), len(decoded), from, to - from})
	v.text = append(v.text, decoded...)
}

// source returns the source of a span, in whole units.
func (v *view) source(s Span) Span {
	first, last := v.piece(s.From), v.piece(s.To-1)
	out := Span{first.from, last.from + last.size}
	if first.n == first.size {
		out.From += s.From - first.at
	}
	if last.n == last.size {
		out.To = last.from + s.To - last.at
	}
	return out
}

// piece returns the piece with a byte of the decoded text.
func (v *view) piece(at int) piece {
	i := sort.Search(len(v.pieces), func(i int) bool { return v.pieces[i].at+v.pieces[i].n > at })
	return v.pieces[i]
}
