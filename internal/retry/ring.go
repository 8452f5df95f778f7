package retry

import (
	"bytes"
	"strings"
	"sync"

	"gitagent/internal/screen"
)

// slack is how many bytes a ring keeps beyond the requested size: an escape sequence or rune cut by
// the ring's beginning ends within them.
const slack = 256

// A Ring keeps the last bytes written to it. A write takes as long as copying its last bytes, and
// allocates nothing. Standard output and standard error may share one ring.
type Ring struct {
	mu   sync.Mutex
	size int
	buf  []byte // size and slack
	at   int    // where the next byte goes
	full bool
}

// NewRing makes a ring for the last size bytes.
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

// bytes returns the bytes in the ring, in order. If earlier ones were overwritten, it starts at the
// first line or escape sequence that begins within the slack: anything before that may be the end
// of a sequence.
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

// Tail returns the end of the output as the text that a person saw: at most size bytes, in whole
// runes, without escape sequences or control characters, overwritten text in its last state. It is
// empty if there was nothing to see.
func (r *Ring) Tail() string {
	// A pipe has bare line feeds; a terminal gets a carriage return with each.
	raw := bytes.ReplaceAll(r.bytes(), []byte{'\n'}, []byte("\r\n"))
	var seen strings.Builder
	_ = screen.Render(&seen, bytes.NewReader(raw)) // neither reading nor writing can fail
	text := strings.Trim(seen.String(), "\n")
	return strings.ToValidUTF8(text[max(0, len(text)-r.size):], "") // a rune may be cut
}
