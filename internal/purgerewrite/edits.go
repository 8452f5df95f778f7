package purgerewrite

import (
	"cmp"
	"slices"

	"gitagent/internal/scrub"
)

// An edit replaces a part of a text.
type edit struct {
	from, to int
	with     string
}

// apply returns a text with edits, which don't overlap, in any order.
func apply(text []byte, edits []edit) []byte {
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
	out := make([]byte, 0, len(text)+len(edits)*len(scrub.Mark))
	at := 0
	for _, e := range edits {
		out = append(append(out, text[at:e.from]...), e.with...)
		at = e.to
	}
	return append(out, text[at:]...)
}

// A touched tells whether ordered spans overlap parts of a text, in order.
type touched struct{ spans []scrub.Span }

func (t *touched) is(from, to int) bool {
	for len(t.spans) > 0 && t.spans[0].To <= from {
		t.spans = t.spans[1:]
	}
	return len(t.spans) > 0 && t.spans[0].From < to
}
