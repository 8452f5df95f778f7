package transcript

import (
	"bytes"
	"encoding/json"
	"iter"
)

// lines yields each line of b with its offset and without its newline.
func lines(b []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		for at := 0; at < len(b); {
			n := bytes.IndexByte(b[at:], '\n')
			if n < 0 {
				n = len(b) - at
			}
			if !yield(at, b[at:at+n]) {
				return
			}
			at += n + 1
		}
	}
}

// Readable reports whether a segment could come from a client: it is empty, or
// one of its lines is a JSON object.
func Readable(segment []byte) bool {
	for _, line := range lines(segment) {
		if json.Valid(line) && bytes.HasPrefix(bytes.TrimSpace(line), []byte{'{'}) {
			return true
		}
	}
	return len(segment) == 0
}

// once is a set of ids seen: a client may write a record twice.
type once map[string]bool

// first reports whether id is new or empty, and adds it.
func (o once) first(id string) bool {
	seen := id != "" && o[id]
	o[id] = true
	return !seen
}
