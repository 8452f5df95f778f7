package search

import (
	"bytes"
	"encoding/json"
	"slices"
	"unicode/utf8"
)

// AddJSON is [Matches.Add] of a text as JSON has it between quotes, which must be
// valid. It decodes the lines that may match. plain is what [Query.Lines] says.
func (m *Matches) AddJSON(place string, b []byte, plain bool) {
	of := func(t *term) *finder { return &t.raw }
	if plain {
		of = func(t *term) *finder { return &t.plain }
	}
	m.q.walk(b, of, escapedNewlines, func(start, end int, seekers []seeker) bool {
		if len(m.Lines) >= MaxLines && m.Complete() && slices.ContainsFunc(seekers, func(s seeker) bool { return s.sure(end) }) {
			m.More++
			return true
		}
		m.decoded = decode(m.decoded[:0], b[start:end])
		m.line(place, bytes.TrimRight(m.decoded, "\r"))
		return true
	})
}

// escapedNewlines are the bounds of lines of text in JSON. At may be within an
// escape.
func escapedNewlines(b []byte, from, at int) (start, end, next int) {
	start = from
	for i := from; ; {
		n := bytes.IndexByte(b[i:], '\\')
		if n < 0 {
			return start, len(b), len(b)
		}
		i += n
		size := 2
		if b[i+1] == 'u' {
			size = 6
		}
		if b[i+1] == 'n' || size == 6 && bytes.EqualFold(b[i:i+size], []byte(`\u000a`)) {
			if i+size > at {
				return start, i, i + size
			}
			start = i + size
		}
		i += size
	}
}

// decode appends what b is in a text, as encoding/json does.
func decode(text, b []byte) []byte {
	n := bytes.IndexByte(b, '\\')
	if n >= 0 && bytes.Contains(b[n:], []byte(`\u`)) || !utf8.Valid(b) {
		var s string
		_ = json.Unmarshal(append(append([]byte{'"'}, b...), '"'), &s) // it is valid
		return append(text, s...)
	}
	for ; n >= 0; n = bytes.IndexByte(b, '\\') {
		text = append(text, b[:n]...)
		c := b[n+1]
		if i := bytes.IndexByte([]byte("bfnrt"), c); i >= 0 {
			c = "\b\f\n\r\t"[i]
		}
		text, b = append(text, c), b[n+2:]
	}
	return append(text, b...)
}
