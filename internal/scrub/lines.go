package scrub

import "bytes"

// linesOf returns a text's lines, trimmed, without empty ones at either end.
func linesOf(text []byte) (lines [][]byte) {
	for line := range bytes.SplitSeq(bytes.TrimSpace(text), []byte("\n")) {
		lines = append(lines, bytes.TrimSpace(line))
	}
	return lines
}

// joined returns a text's lines as one: so it stays equal if they are broken or
// end in another way, see [unwrap].
func joined(text []byte) []byte { return bytes.Join(linesOf(text), nil) }

// maxMargin limits what precedes a listed line: numbers, signs, authors, dates.
const maxMargin = 200

// listed returns the places of consecutive lines, each after anything and at a
// line's end. A list of the margins that tools print is never complete.
func listed(in []byte, lines [][]byte) (spans []Span) {
	for from := 0; ; {
		i := bytes.Index(in[from:], lines[0])
		if i < 0 {
			return spans
		}
		i += from
		if to := below(in, i+len(lines[0]), lines[1:]); to > 0 {
			spans = append(spans, Span{i, to})
			from = to
		} else {
			from = i + len(lines[0])
		}
	}
}

// below returns where consecutive lines, below the one to at, end, or 0.
func below(in []byte, at int, lines [][]byte) int {
	for n, want := range lines {
		end := bytes.IndexByte(in[at:], '\n')
		if end < 0 || len(bytes.TrimSpace(in[at:at+end])) > 0 {
			return 0
		}
		at += end + 1
		line := in[at:]
		if end := bytes.IndexByte(line, '\n'); end >= 0 {
			line = line[:end]
		}
		i := bytes.LastIndex(bytes.TrimRight(line, " \t\r"), want)
		if n == len(lines)-1 { // more may follow the last one
			i = bytes.Index(line, want)
		}
		if i < 0 || i > maxMargin {
			return 0
		}
		at += i + len(want)
	}
	return at
}
