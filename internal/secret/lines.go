package secret

import "bytes"

// linesOf are the lines of a text, without blanks around them, from the first that has anything to the last.
func linesOf(text []byte) (lines [][]byte) {
	for line := range bytes.SplitSeq(bytes.TrimSpace(text), []byte("\n")) {
		lines = append(lines, bytes.TrimSpace(line))
	}
	return lines
}

// joined are the lines of a text as one. It is what they are where they were broken in another way, or end in
// another one: see [unwrap].
func joined(text []byte) []byte { return bytes.Join(linesOf(text), nil) }

// maxMargin is how many bytes may stand before a line in a listing: numbers, signs, names, who wrote it when.
const maxMargin = 200

// listed are the places where a text has lines, one below the other: each at the end of a line, whatever stands
// before it and however that ends. A list of what tools print there would never be whole.
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

// below returns where lines end that a text has one below the other, 0 if it has not. The line before the first
// ends at at.
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
		if n == len(lines)-1 { // more may stand behind the last one
			i = bytes.Index(line, want)
		}
		if i < 0 || i > maxMargin {
			return 0
		}
		at += i + len(want)
	}
	return at
}
