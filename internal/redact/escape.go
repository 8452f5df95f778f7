package redact

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxDepth is how many layers of escapes are removed. JSON in a string of JSON
// in a string of a transcript has three.
const maxDepth = 4

// find returns the parts of s to replace, in order and without overlaps.
//
// A secret can be behind escapes: "\u0041KIA...", "pass\"word", base64 with
// "\/", JSON in a string of JSON. So s is searched as it is and then again
// without one layer of escapes, until none are left. Every finding maps back to
// whole escapes of s, so replacing it leaves valid JSON valid.
func find(s string, depth int) []span {
	spans, more := scan(s)
	for i := range spans {
		spans[i].start, _ = unitAround(s, spans[i].start)
		_, spans[i].end = unitAround(s, spans[i].end)
	}
	if depth < maxDepth && (more || hides(s)) {
		spans = append(spans, origin(s, find(unescape(s), depth+1))...)
	}
	return merge(spans)
}

// hides reports whether s has escapes that scan can't see through. It sees
// through \n, \t and \\, which every second file of code has, unless a rule
// needs the lines.
func hides(s string) bool {
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 || i+1 >= len(s) {
			return false
		}
		switch s[i+1] {
		case '"', '/', 'u':
			return true
		}
		s = s[i+1:]
	}
}

// unescape returns s without one layer of JSON's escapes.
func unescape(s string) string {
	b := make([]byte, 0, len(s))
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 {
			b = append(b, s...)
			return view(b)
		}
		b = append(b, s[:i]...)
		n, r := unit(s[i:])
		b = utf8.AppendRune(b, r)
		s = s[i+n:]
	}
}

// unit returns the length and meaning of the escape at the start of s. Any
// other backslash stands for itself, half a surrogate pair for U+FFFD.
func unit(s string) (n int, r rune) {
	if len(s) < 2 {
		return 1, '\\'
	}
	if meaning := escapes[s[1]]; meaning != 0 {
		return 2, rune(meaning)
	}
	if s[1] != 'u' || len(s) < 6 {
		return 1, '\\'
	}
	code, err := strconv.ParseUint(s[2:6], 16, 16)
	if err != nil {
		return 1, '\\'
	}
	if r = rune(code); !utf8.ValidRune(r) {
		r = utf8.RuneError
	}
	return 6, r
}

// escapes maps a byte after a backslash to its meaning; u is separate.
var escapes = [256]byte{
	'"': '"', '\\': '\\', '/': '/', '\'': '\'', 'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'f': '\f',
}

// origin maps spans of unescape(s) to the parts of s, in whole escapes.
func origin(s string, spans []span) []span {
	src, dst := 0, 0 // s[src] decodes to the byte at dst
	locate := func(off int) (start, end int) {
		for {
			plain := strings.IndexByte(s[src:min(len(s), src+off-dst+1)], '\\')
			if plain < 0 {
				src, dst = src+off-dst, off
				return src, src + 1
			}
			n, r := unit(s[src+plain:])
			width := utf8.RuneLen(r)
			if off < dst+plain+width {
				return src + plain, src + plain + n
			}
			src, dst = src+plain+n, dst+plain+width
		}
	}
	out := make([]span, len(spans))
	for i, sp := range spans {
		out[i].rule = sp.rule
		out[i].start, _ = locate(sp.start)
		_, out[i].end = locate(sp.end - 1)
	}
	return out
}

// unitAround returns the bounds of the escape around s[i], or i twice.
func unitAround(s string, i int) (start, end int) {
	low := max(0, i-5) // an escape has at most 6 bytes
	j := strings.LastIndexByte(s[low:i], '\\')
	if j < 0 {
		return i, i
	}
	j += low
	for j > 0 && s[j-1] == '\\' {
		j--
	}
	for j < i {
		n := 1
		if s[j] == '\\' {
			n, _ = unit(s[j:])
		}
		if j+n > i {
			return j, j + n
		}
		j += n
	}
	return i, i
}
