package search

import (
	"bytes"
	"iter"
)

// Lines yields, without newlines, the lines of JSON that may match, and whether
// nothing that may match is hidden by an escape in one.
func (q *Query) Lines(b []byte) iter.Seq2[[]byte, bool] {
	return func(yield func([]byte, bool) bool) {
		q.walk(b, func(t *term) *finder { return &t.raw }, newlines, func(start, end int, seekers []seeker) bool {
			plain := true
			for i := range seekers {
				plain = plain && seekers[i].escape() >= end
			}
			return yield(b[start:end], plain)
		})
	}
}

// Possible reports whether lines of JSON may have all terms that m lacks.
func (q *Query) Possible(b []byte, m *Matches) bool {
	for i := range q.terms {
		if m.found&(1<<i) != 0 {
			continue
		}
		if s := q.terms[i].raw.seek(b); s.next(0) == len(b) {
			return false
		}
	}
	return true
}

// walk calls f with the bounds of the lines that may have a term, until it
// returns false, and with what seeks the terms. around returns the bounds of the
// line with a place, given where a line before it begins, and where the next one
// does.
func (q *Query) walk(b []byte, of func(*term) *finder, around func(b []byte, from, at int) (start, end, next int), f func(start, end int, seekers []seeker) bool) {
	var few [4]seeker
	seekers := few[:0]
	for i := range q.terms {
		seekers = append(seekers, of(&q.terms[i]).seek(b))
	}
	for from := 0; from < len(b); {
		at := len(b)
		for i := range seekers {
			s := &seekers[i]
			if s.at < from {
				s.at = s.next(from)
			}
			at = min(at, s.at)
		}
		if at == len(b) {
			return
		}
		start, end, after := around(b, from, at)
		if !f(start, end, seekers) {
			return
		}
		from = after
	}
}

// newlines are the bounds of lines of text.
func newlines(b []byte, from, at int) (start, end, next int) {
	start, end = from+bytes.LastIndexByte(b[from:at], '\n')+1, len(b)
	if n := bytes.IndexByte(b[at:], '\n'); n >= 0 {
		end = at + n
	}
	return start, end, end + 1
}
