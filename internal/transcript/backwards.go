package transcript

import (
	"bytes"
	"io"
	"iter"
)

const (
	// tailSize is how many bytes at the end of a file are read first. The last answer nearly always
	// lies there: only the results of its tools follow it, and the client keeps at most 30 KB of each.
	tailSize = 100 << 10

	// maxLine is the length in bytes up to which a line is read backwards. A model writes 128,000
	// tokens at most, so an answer is much shorter; an inline image has several megabytes, and is
	// skipped.
	maxLine = 2 << 20
)

// backwards yields the lines of f that begin between two offsets, the last one first, each with its
// own offset and without its newline. It leaves out lines longer than [maxLine], and a line that
// begins at from, unless that is the beginning of the file. Text after the last newline counts as a
// line. A line is valid until the next one is requested.
func backwards(f io.ReaderAt, from, to int64) iter.Seq2[int64, []byte] {
	return func(yield func(int64, []byte) bool) {
		var buf []byte
		want := int64(tailSize)
		for hi := to; hi > from; {
			lo := max(from, hi-want)
			if int64(cap(buf)) < hi-lo {
				buf = make([]byte, hi-lo)
			}
			buf = buf[:hi-lo]
			if n, _ := f.ReadAt(buf, lo); n < len(buf) {
				return // it was truncated meanwhile, or can't be read
			}
			start := 0 // of the first whole line in buf
			if lo > 0 {
				start = bytes.IndexByte(buf[:len(buf)-1], '\n') + 1
			}
			if start == 0 && lo > 0 {
				if want < maxLine && lo > from {
					want = min(4*want, maxLine)
				} else if hi = skipLine(f, from, lo, buf); hi < 0 {
					return
				}
				continue
			}
			for end := len(buf); end > start; {
				text := bytes.TrimSuffix(buf[start:end], []byte{'\n'})
				begin := start + bytes.LastIndexByte(text, '\n') + 1
				if !yield(lo+int64(begin), buf[begin:start+len(text)]) {
					return
				}
				end = begin
			}
			hi, want = lo+int64(start), tailSize
		}
	}
}

// skipLine returns the beginning of the line that holds the byte before offset: from if that is
// earlier, -1 if f can't be read. buf is for its use.
func skipLine(f io.ReaderAt, from, offset int64, buf []byte) int64 {
	for offset > from {
		piece := buf[:min(int64(len(buf)), offset-from)]
		lo := offset - int64(len(piece))
		if n, _ := f.ReadAt(piece, lo); n < len(piece) {
			return -1
		}
		if i := bytes.LastIndexByte(piece, '\n'); i >= 0 {
			return lo + int64(i) + 1
		}
		offset = lo
	}
	return from
}
