package redact

import (
	"sort"

	"golang.org/x/text/unicode/norm"
)

// composed returns s as most programs write letters with marks: as one sign,
// not as names of files on macOS have them, ü as u and ¨. at maps its offsets
// to s, to the letter that stands there; it is nil if s is so already.
func composed(s string) (text string, at func(int) (start, end int)) {
	if norm.NFC.IsNormalString(s) {
		return s, nil
	}
	type piece struct{ start, end, from, to int } // of the text, and of s
	var pieces []piece
	b := make([]byte, 0, len(s))
	var letters norm.Iter
	for letters.InitString(norm.NFC, s); !letters.Done(); {
		p := piece{start: len(b), from: letters.Pos()}
		b = append(b, letters.Next()...)
		p.end, p.to = len(b), letters.Pos()
		if string(b[p.start:]) != s[p.from:p.to] {
			pieces = append(pieces, p)
		}
	}
	return view(b), func(off int) (start, end int) {
		i := sort.Search(len(pieces), func(i int) bool { return pieces[i].start > off }) - 1
		switch {
		case i < 0:
			return off, off + 1
		case off < pieces[i].end:
			return pieces[i].from, pieces[i].to
		}
		start = off - pieces[i].end + pieces[i].to
		return start, start + 1
	}
}
