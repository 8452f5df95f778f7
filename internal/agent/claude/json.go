package claude

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
)

// maxDepth is how deeply values may lie in each other. The deepest of the client's are the inputs of
// tools, at about ten.
const maxDepth = 500

// valid reports whether a line is JSON. [json.Valid], which takes four times as long, decides about
// what the client doesn't write.
func valid(line []byte) bool {
	return skip(line, 0, maxDepth) == len(line) && printable(line) || json.Valid(line)
}

// members calls each for the members of the JSON object that begins at b[i], with the text between
// the quotes of its key, where that key and its value begin, and where the comma before it is. each
// returns where the value ends, as skip does. members returns where the object ends, -1 if it isn't
// valid or each returned -1.
//
// It is ours because it does in one pass what takes two with gjson: tell whether all of a line is
// JSON as RFC 8259 has it, and find its parts.
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

// A member is a field of an object: its key, and offsets.
type member struct {
	key   []byte
	comma int // before it; the brace if it is the first
	from  int // of the key's quote
	value int
	end   int // of the value, once that is known
}

// elements is members for the elements of an array; each gets where one begins.
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

// skip returns where the JSON value that begins at b[i] ends, -1 if there is none.
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

// skipString takes control characters for what they are not, a part of a string; see [printable].
func skipString(b []byte, i int) int {
	if i >= len(b) || b[i] != '"' {
		return -1
	}
	quote := i // the next one, which a backslash may be before
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
				if i++; !isHex(b[i]) { // at the latest, at the quote
					return -1
				}
			}
		default:
			return -1
		}
	}
}

// printable reports whether there is no control character in b. In JSON there may be some between
// values, but the client writes none.
func printable(b []byte) bool {
	const ones = ^uint64(0) / 255 // in each byte
	for ; len(b) >= 8; b = b[8:] {
		if x := binary.LittleEndian.Uint64(b); (x-' '*ones)&^x&(ones<<7) != 0 { // a byte borrows: it is less than a blank
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

// digits returns where the digits at b[i] end, -1 if there are none.
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

// blank returns the first offset from i on that isn't a blank.
func blank(b []byte, i int) int {
	for i < len(b) && b[i] == ' ' {
		i++
	}
	return i
}
