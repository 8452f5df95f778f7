package transcript

import (
	"bytes"
	"io"
	"iter"
)

const (
	// tailSize is how much of a file's end is read first. It nearly always has
	// the last answer: only its tools' results follow, at most 30 KB each.
	tailSize = 100 << 10

	// maxLine is the longest line read backwards. Answers are shorter: a model
	// writes at most 128,000 tokens. Inline images have megabytes.
	maxLine = 2 << 20
)

// backwards yields the lines that begin between two offsets, the last first,
// each valid until the next. It skips lines over [maxLine] and, except at 0,
// one that begins at from. Text after the last newline is a line.
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

// skipLine returns the start of the line around the byte before offset: from if
// that is earlier, -1 if f can't be read. It overwrites buf.
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
