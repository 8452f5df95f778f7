// Package compact writes values one after the other, and reads them again in the
// same order: for files that are derived from others and read whole, of which
// JSON would take ten times as long. A file has a first line that says what it
// holds, and a sum at its end, so that a part of one is none.
package compact

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"strings"
	"time"

	"gitagent/internal/git/object"
)

// A Writer is what was written so far.
type Writer []byte

// Int writes a number.
func (w *Writer) Int(n int64) { *w = binary.AppendVarint(*w, n) }

// Text writes bytes, however many.
func (w *Writer) Text(s string) {
	w.Int(int64(len(s)))
	*w = append(*w, s...)
}

// Is writes a yes or no.
func (w *Writer) Is(yes bool) {
	if yes {
		w.Int(1)
	} else {
		w.Int(0)
	}
}

// Time writes a time with its offset from UTC, and reports whether that can be
// written.
func (w *Writer) Time(t time.Time) bool {
	b, err := t.MarshalBinary()
	w.Text(string(b))
	return err == nil
}

// Hash writes a hash, which may be zero.
func (w *Writer) Hash(h object.Hash) { w.Text(string(h.Bytes())) }

// A Reader reads what a [Writer] has written. Texts are parts of its own, so
// that none is copied. At an error it gives zero values from there on.
type Reader struct {
	rest string
	bad  bool
}

// NewReader returns a Reader of something that was written.
func NewReader(text string) *Reader { return &Reader{rest: text} }

// Int reads a number.
func (r *Reader) Int() int64 {
	var u uint64
	for i := 0; i < len(r.rest) && i < binary.MaxVarintLen64; i++ {
		b := r.rest[i]
		u |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			r.rest = r.rest[i+1:]
			return int64(u>>1) ^ -int64(u&1)
		}
	}
	r.rest, r.bad = "", true
	return 0
}

// Text reads bytes.
func (r *Reader) Text() string {
	n := r.Int()
	if n < 0 || n > int64(len(r.rest)) {
		r.rest, r.bad = "", true
		return ""
	}
	s := r.rest[:n]
	r.rest = r.rest[n:]
	return s
}

// Count reads a number of things of which each takes a byte or more.
func (r *Reader) Count() int {
	n := r.Int()
	if n < 0 || n > int64(len(r.rest)) {
		r.rest, r.bad = "", true
		return 0
	}
	return int(n)
}

// Is reads a yes or no.
func (r *Reader) Is() bool { return r.Int() != 0 }

// Time reads a time.
func (r *Reader) Time() (t time.Time) {
	if b := r.Text(); !r.bad && t.UnmarshalBinary([]byte(b)) != nil {
		r.bad = true
	}
	return t
}

// Hash reads a hash.
func (r *Reader) Hash() object.Hash {
	text := r.Text()
	for _, f := range []object.Format{object.SHA1, object.SHA256} {
		if len(text) == f.Size() {
			return f.Hash([]byte(text))
		}
	}
	return object.Hash{}
}

// More reports whether anything is left.
func (r *Reader) More() bool { return len(r.rest) > 0 }

// Bad reports whether something could not be read.
func (r *Reader) Bad() bool { return r.bad }

// ErrOther reports a file that is no such one: of another version, cut off, or
// damaged.
var ErrOther = errors.New("it is no such file")

var polynomial = crc32.IEEETable

// File returns the content of a file with a first line.
func File(line string, w Writer) []byte {
	out := make([]byte, 0, len(line)+1+len(w)+4)
	out = append(append(append(out, line...), '\n'), w...)
	return binary.BigEndian.AppendUint32(out, crc32.Checksum(out, polynomial))
}

// Open returns what a file with a first line holds.
func Open(line string, file io.Reader) (*Reader, error) {
	var b strings.Builder
	if f, ok := file.(interface{ Stat() (fs.FileInfo, error) }); ok {
		if info, err := f.Stat(); err == nil && info.Size() < maxGrown {
			b.Grow(int(info.Size()))
		}
	}
	if _, err := io.Copy(&b, file); err != nil {
		return nil, err
	}
	text := b.String() // which is no copy
	body := len(text) - 4
	if body < 0 || sumOf(text[:body]) != binary.BigEndian.Uint32([]byte(text[body:])) {
		return nil, ErrOther
	}
	rest, ok := strings.CutPrefix(text[:body], line+"\n")
	if !ok {
		return nil, ErrOther
	}
	return NewReader(rest), nil
}

// maxGrown bounds what is allocated at once.
const maxGrown = 1 << 28

func sumOf(text string) (sum uint32) {
	var part [4 << 10]byte
	for len(text) > 0 {
		n := copy(part[:], text)
		sum = crc32.Update(sum, polynomial, part[:n])
		text = text[n:]
	}
	return sum
}
