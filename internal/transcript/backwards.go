package transcript

import (
	"bytes"
	"io"
	"iter"
)

const (
	// tailSize is how much of a file's end is read first, in bytes. The last answer nearly always lies there:
	// what follows it are its tools' results, of which the client keeps at most 30 KB each.
	tailSize = 100 << 10

	// maxLine is the length in bytes up to which a line is read backwards. A model writes 128,000 tokens at most,
	// so an answer has a fraction of that; an inline image has several megabytes, and is skipped.
	maxLine = 2 << 20
)

// backwards yields the lines of f that begin between two offsets, the last one first, each with its own offset and without
// its newline. A line longer than [maxLine] is left out, and so is one that begins at from, unless that is the file's
// beginning. What follows the last newline is a line, too. A line is valid until the next one is asked for.
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
				return // it was cut meanwhile, or can't be read
			}
			start := 0 // of the first line that is whole in buf
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

// skipLine returns where the line begins that the byte before offset belongs to, from if it begins before that, and
// -1 if f can't be read. buf is for its use.
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
