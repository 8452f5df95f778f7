package redact

import "strings"

// Classes of the bytes in words. A byte of no class ends a word.
const (
	digit    = 1 << iota // 0-9
	hexLower             // a-f
	lower                // g-z
	upper                // A-Z
	under                // _
	dash                 // -
	plus                 // + /
	dot                  // . ~

	alpha  = hexLower | lower | upper
	alnum  = alpha | digit
	hex    = digit | hexLower
	token  = alnum | under
	url64  = alnum | under | dash // base64 of RFC 4648 section 5
	std64  = alnum | plus         // base64 of section 4, without padding
	dotted = url64 | dot
)

// class maps each byte to its classes. As a literal it needs no start-up time.
var class = [256]uint8{
	'0': digit, '1': digit, '2': digit, '3': digit, '4': digit,
	'5': digit, '6': digit, '7': digit, '8': digit, '9': digit,
	'a': hexLower, 'b': hexLower, 'c': hexLower, 'd': hexLower, 'e': hexLower, 'f': hexLower,
	'g': lower, 'h': lower, 'i': lower, 'j': lower, 'k': lower, 'l': lower, 'm': lower,
	'n': lower, 'o': lower, 'p': lower, 'q': lower, 'r': lower, 's': lower, 't': lower,
	'u': lower, 'v': lower, 'w': lower, 'x': lower, 'y': lower, 'z': lower,
	'A': upper, 'B': upper, 'C': upper, 'D': upper, 'E': upper, 'F': upper, 'G': upper,
	'H': upper, 'I': upper, 'J': upper, 'K': upper, 'L': upper, 'M': upper, 'N': upper,
	'O': upper, 'P': upper, 'Q': upper, 'R': upper, 'S': upper, 'T': upper, 'U': upper,
	'V': upper, 'W': upper, 'X': upper, 'Y': upper, 'Z': upper,
	'_': under, '-': dash, '+': plus, '/': plus, '.': dot, '~': dot,
}

func is(c byte, classes uint8) bool { return class[c]&classes != 0 }

// run returns the end of the bytes of the classes from s[i], at most limit.
func run(s string, i int, classes uint8, limit int) int {
	end := min(len(s), i+limit)
	for i < end && class[s[i]]&classes != 0 {
		i++
	}
	return i
}

// runBack returns the start of such bytes before s[i], at most limit.
func runBack(s string, i int, classes uint8, limit int) int {
	start := max(0, i-limit)
	for i > start && class[s[i-1]]&classes != 0 {
		i--
	}
	return i
}

// textEnd returns the first blank, control character or byte of stops from
// s[i], at most limit bytes on.
func textEnd(s string, i, limit int, stops string) int {
	end := min(len(s), i+limit)
	for i < end && s[i] > ' ' && strings.IndexByte(stops, s[i]) < 0 {
		i++
	}
	return i
}

// textLine returns the end of s[i]'s line, or the first byte of stops in it.
func textLine(s string, i int, stops string) int {
	end := lineStop(s, i, maxValue)
	if n := strings.IndexAny(s[i:end], stops); n >= 0 {
		return i + n
	}
	return end
}

// wordStart is [runBack] without the letter that ends an escape: in \nAPI_KEY=
// the name begins with A, as it does after a terminal's ESC [0m.
func wordStart(s string, i int, classes uint8, limit int) int {
	start := runBack(s, i, classes, limit)
	if start == i || start == 0 {
		return start
	}
	switch s[start-1] {
	case '\\':
		if escapeLetter(s[start]) {
			start++
		}
	case '[':
		if e := run(s, start, digit, 3); start > 1 && s[start-2] == '\x1b' && e < i {
			start = e + 1
		}
	}
	return start
}

func escapeLetter(c byte) bool { return strings.IndexByte("nrtbfv", c) >= 0 }
