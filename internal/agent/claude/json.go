package claude

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
)

// maxDepth bounds nesting. The client's deepest values, tools' inputs, have 10.
const maxDepth = 500

// valid reports whether a line is JSON. It falls back on [json.Valid], which
// takes four times as long, for lines that the client would not write.
func valid(line []byte) bool {
	return skip(line, 0, maxDepth) == len(line) && printable(line) || json.Valid(line)
}

// members calls each for the members of the JSON object at b[i]. Both return
// the end of a value, or -1 if it is invalid. It does in one pass what takes
// gjson two: it checks a line against RFC 8259, and finds its parts.
func members(b []byte, i, depth int, each func(m member) int) int {
	if depth == 0 || i < 0 || i >= len(b) || b[i] != '{' {
		return -1
	}
	m := member{comma: i}
	i = blank(b, i+1)
	if i < len(b) && b[i] == '}' {
		return i + 1
	}
	for {
		m.from = i
		end := skipString(b, i)
		if end < 0 {
			return -1
		}
		m.key = b[i+1 : end-1]
		if i = blank(b, end); i >= len(b) || b[i] != ':' {
			return -1
		}
		if m.value = blank(b, i+1); m.value >= len(b) {
			return -1
		}
		if i = each(m); i < 0 {
			return -1
		}
		m.comma = blank(b, i)
		switch i = m.comma; {
		case i < len(b) && b[i] == '}':
			return i + 1
		case i >= len(b) || b[i] != ',':
			return -1
		}
		i = blank(b, i+1)
	}
}

// A member is a field of an object: its key, between quotes, and offsets.
type member struct {
	key   []byte
	comma int // before it; the first's is the brace
	from  int // of the key's quote
	value int
	end   int // of the value, once known
}

// elements is members for an array; each gets an element's start.
func elements(b []byte, i, depth int, each func(at int) int) int {
	if depth == 0 || i < 0 || i >= len(b) || b[i] != '[' {
		return -1
	}
	i = blank(b, i+1)
	if i < len(b) && b[i] == ']' {
		return i + 1
	}
	for i < len(b) {
		if i = each(i); i < 0 {
			return -1
		}
		switch i = blank(b, i); {
		case i < len(b) && b[i] == ']':
			return i + 1
		case i >= len(b) || b[i] != ',':
			return -1
		}
		i = blank(b, i+1)
	}
	return -1
}

// skip returns the end of the JSON value at b[i], or -1.
func skip(b []byte, i, depth int) int {
	if i < 0 || i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{':
		return members(b, i, depth, func(m member) int { return skip(b, m.value, depth-1) })
	case '[':
		return elements(b, i, depth, func(at int) int { return skip(b, at, depth-1) })
	case 't':
		return skipWord(b, i, "true")
	case 'f':
		return skipWord(b, i, "false")
	case 'n':
		return skipWord(b, i, "null")
	default:
		return skipNumber(b, i)
	}
}

func skipWord(b []byte, i int, word string) int {
	if !bytes.HasPrefix(b[i:], []byte(word)) {
		return -1
	}
	return i + len(word)
}

// skipString accepts control characters in strings; see [printable].
func skipString(b []byte, i int) int {
	if i >= len(b) || b[i] != '"' {
		return -1
	}
	quote := i // the next one, perhaps after a backslash
	for i++; ; i++ {
		if quote < i {
			n := bytes.IndexByte(b[i:], '"')
			if n < 0 {
				return -1
			}
			quote = i + n
		}
		n := bytes.IndexByte(b[i:quote], '\\')
		if n < 0 {
			return quote + 1
		}
		switch i += n + 1; b[i] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		case 'u':
			for range 4 {
				if i++; !isHex(b[i]) { // ends at the quote at the latest
					return -1
				}
			}
		default:
			return -1
		}
	}
}

// printable reports whether b has no control character. JSON allows some
// between values, but the client writes none.
func printable(b []byte) bool {
	const ones = ^uint64(0) / 255 // one in each byte
	for ; len(b) >= 8; b = b[8:] {
		if x := binary.LittleEndian.Uint64(b); (x-' '*ones)&^x&(ones<<7) != 0 { // a byte less than a blank borrows
			return false
		}
	}
	for _, c := range b {
		if c < ' ' {
			return false
		}
	}
	return true
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func skipNumber(b []byte, i int) int {
	if b[i] == '-' {
		i++
	}
	start := i
	if i = digits(b, i); i < 0 || b[start] == '0' && i > start+1 {
		return -1
	}
	if i < len(b) && b[i] == '.' {
		if i = digits(b, i+1); i < 0 {
			return -1
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		return digits(b, i)
	}
	return i
}

func digits(b []byte, i int) int {
	start := i
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	if i == start {
		return -1
	}
	return i
}

func blank(b []byte, i int) int {
	for i < len(b) && b[i] == ' ' {
		i++
	}
	return i
}
