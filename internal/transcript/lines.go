package transcript

import (
	"bytes"
	"errors"
	"io"
)

// A LineReader reads lines. Memory holds the longest one. The zero LineReader
// is ready to use, for one reader after the other.
type LineReader struct{ buf []byte }

// Each calls f for each line of r, without its newline and valid until f
// returns. An error of f ends it and is returned.
func (l *LineReader) Each(r io.Reader, f func(line []byte) error) error {
	if l.buf == nil {
		l.buf = make([]byte, 64<<10) // a pipe's
	}
	have, seen := 0, 0 // buf[:seen] has no newline
	for {
		n, err := r.Read(l.buf[have:])
		have += n
		from := 0
		for {
			end := bytes.IndexByte(l.buf[seen:have], '\n')
			if end < 0 {
				break
			}
			if err := f(l.buf[from : seen+end]); err != nil {
				return err
			}
			seen += end + 1
			from = seen
		}
		have = copy(l.buf, l.buf[from:have])
		seen = have
		switch {
		case errors.Is(err, io.EOF) && have > 0:
			return f(l.buf[:have])
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case have == len(l.buf):
			l.buf = append(l.buf, make([]byte, len(l.buf))...)
		}
	}
}
