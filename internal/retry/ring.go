package retry

import (
	"bytes"
	"strings"
	"sync"

	"gitagent/internal/vt"
)

// slack is for the end of an escape sequence or rune cut by the ring's start.
const slack = 256

// A Ring keeps the last bytes written to it, without allocation, for any number
// of writers.
type Ring struct {
	mu   sync.Mutex
	size int
	buf  []byte // size plus slack
	at   int    // of the next byte
	full bool
}

// NewRing returns a ring for the last size bytes.
func NewRing(size int) *Ring { return &Ring{size: size, buf: make([]byte, size+slack)} }

// Write never fails.
func (r *Ring) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(p)
	p = p[max(0, len(p)-len(r.buf)):]
	copied := copy(r.buf[r.at:], p)
	copy(r.buf, p[copied:])
	r.full = r.full || r.at+len(p) >= len(r.buf)
	r.at = (r.at + len(p)) % len(r.buf)
	return n, nil
}

// bytes returns the ring's bytes in order. After an overflow it starts at the
// first line or sequence in the slack: the rest of one may precede it.
func (r *Ring) bytes() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.full {
		return bytes.Clone(r.buf[:r.at])
	}
	all := append(bytes.Clone(r.buf[r.at:]), r.buf[:r.at]...)
	if i := bytes.IndexAny(all[:slack], "\n\x1b"); i >= 0 {
		all = all[i:]
	}
	return all
}

// Tail returns the output's end as a person saw it: whole runes, at most size
// bytes, without escapes and control characters, lines in their last state.
func (r *Ring) Tail() string {
	// A pipe has bare line feeds, a terminal a carriage return before each.
	raw := bytes.ReplaceAll(r.bytes(), []byte{'\n'}, []byte("\r\n"))
	var seen strings.Builder
	_ = vt.Render(&seen, bytes.NewReader(raw)) // can't fail
	text := strings.Trim(seen.String(), "\n")
	return strings.ToValidUTF8(text[max(0, len(text)-r.size):], "") // a rune may be cut
}
