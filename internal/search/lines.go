package search

import (
	"bytes"
	"iter"
)

// Lines yields, without newlines, the lines of JSON that may match.
func (q *Query) Lines(b []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for start, end := range q.lines(b, func(t *term) *finder { return &t.raw }) {
			if !yield(b[start:end]) {
				return
			}
		}
	}
}

// Possible reports whether lines of JSON may have all terms that m lacks.
func (q *Query) Possible(b []byte, m *Matches) bool {
	for i := range q.terms {
		if m.found&(1<<i) == 0 && q.terms[i].raw.seek(b).next(0) == len(b) {
			return false
		}
	}
	return true
}

// lines yields the bounds of the lines that may have a term.
func (q *Query) lines(b []byte, of func(*term) *finder) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		seekers := make([]*seeker, len(q.terms))
		next := make([]int, len(q.terms))
		for i := range q.terms {
			seekers[i], next[i] = of(&q.terms[i]).seek(b), -1
		}
		for from := 0; from < len(b); {
			at := len(b)
			for i, s := range seekers {
				if next[i] < from {
					next[i] = s.next(from)
				}
				at = min(at, next[i])
			}
			if at == len(b) {
				return
			}
			start := from + bytes.LastIndexByte(b[from:at], '\n') + 1
			end := len(b)
			if n := bytes.IndexByte(b[at:], '\n'); n >= 0 {
				end = at + n
			}
			if !yield(start, end) {
				return
			}
			from = end + 1
		}
	}
}
