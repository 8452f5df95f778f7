package secret

import "sort"

// A view is a text that was decoded, and where its parts come from.
type view struct {
	text   []byte
	pieces []piece // in order; they hold all of the text
}

// A piece is a part of a decoded text: n bytes at at, from size bytes at from. What was copied has as
// many; anything else is one unit.
type piece struct{ at, n, from, size int }

// copy takes over a part of the source.
func (v *view) copy(source []byte, from, to int) {
	if from < to {
		v.pieces = append(v.pieces, piece{len(v.text), to - from, from, to - from})
		v.text = append(v.text, source[from:to]...)
	}
}

// put puts decoded bytes in the place of a part of the source.
func (v *view) put(decoded []byte, from, to int) {
	v.pieces = append(v.pieces, piece{len(v.text), len(decoded), from, to - from})
	v.text = append(v.text, decoded...)
}

// source returns where a span of the decoded text comes from: whole units.
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

// piece returns the one that has a byte of the decoded text.
func (v *view) piece(at int) piece {
	i := sort.Search(len(v.pieces), func(i int) bool { return v.pieces[i].at+v.pieces[i].n > at })
	return v.pieces[i]
}
