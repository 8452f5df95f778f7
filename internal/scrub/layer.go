package scrub

import (
	"bytes"
	"html"
	"unicode/utf16"
	"unicode/utf8"
)

// A layer is one way to spell a text. decode is not ok if it does not occur.
type layer struct {
	decode func(text []byte) (v *view, ok bool)
	rank   rank
}

// A rank says where a layer can lie: texts are escaped, shown, listed and then
// quoted in JSON, not the other way round. All orders take ten times as long.
type rank int

const (
	outermost rank = iota
	quoting        // JSON, also in itself
	showing        // sequences for a terminal
	listing        // numbers and signs before lines
	joining        // broken lines
	escaping       // one character at a time; around JSON too
	widening       // UTF-16, also in binary data
)

// within reports whether a layer can lie in one of another rank.
func (r rank) within(above rank) bool {
	switch above {
	case escaping:
		return r == escaping || r == widening || r == quoting || r == showing
	case widening:
		return r == escaping || r == quoting || r == showing
	case outermost, quoting:
		return true
	}
	return r > above || above == joining && r == quoting
}

var layers = []layer{
	{units('\\', jsonEscape), quoting},
	{shown, showing},
	{margin(diffMargin), listing},
	{margin(func() func([]byte) int { return numberMargin }), listing},
	{unwrap(false), joining},
	{unwrap(true), joining},
	{units('\\', shellEscape), escaping},
	{units('\'', shellQuote), escaping},
	{units('%', percent), escaping},
	{form, escaping},
	{units('&', entity), escaping},
	{wide(0, 1), widening},
	{wide(1, 0), widening},
}

// units returns a decoder of escapes that begin with a byte. unit returns an
// escape's meaning and size in bytes, 0 if it is none.
func units(begin byte, unit func(at []byte) (decoded []byte, size int)) func([]byte) (*view, bool) {
	return func(text []byte) (*view, bool) {
		i := bytes.IndexByte(text, begin)
		if i < 0 {
			return nil, false
		}
		most := 2*bytes.Count(text, []byte{begin}) + 1
		v, copied := &view{text: make([]byte, 0, len(text)), pieces: make([]piece, 0, most)}, 0
		for i < len(text) {
			decoded, size := unit(text[i:])
			if size == 0 {
				size = 1
			} else {
				v.copy(text, copied, i)
				v.put(decoded, i, i+size)
				copied = i + size
			}
			next := bytes.IndexByte(text[i+size:], begin)
			if next < 0 {
				break
			}
			i += size + next
		}
		v.copy(text, copied, len(text))
		return v, len(v.pieces) > 1 || copied > 0
	}
}

func jsonEscape(at []byte) ([]byte, int) {
	if len(at) < 2 {
		return nil, 0
	}
	switch at[1] {
	case '"', '\\', '/':
		return at[1:2], 2
	case 'b':
		return []byte{'\b'}, 2
	case 'f':
		return []byte{'\f'}, 2
	case 'n':
		return []byte{'\n'}, 2
	case 'r':
		return []byte{'\r'}, 2
	case 't':
		return []byte{'\t'}, 2
	case 'u':
		r, ok := hexRune(at[2:], 4)
		if !ok {
			return nil, 0
		}
		if utf16.IsSurrogate(r) && len(at) >= 12 && at[6] == '\\' && at[7] == 'u' {
			if low, ok := hexRune(at[8:], 4); ok {
				if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
					return utf8.AppendRune(nil, both), 12
				}
			}
		}
		return utf8.AppendRune(nil, r), 6
	}
	return nil, 0
}

// shellEscape decodes a backslash of a shell, C and the like.
func shellEscape(at []byte) ([]byte, int) {
	if len(at) < 2 {
		return nil, 0
	}
	switch c := at[1]; {
	case c == 'x':
		if r, ok := hexRune(at[2:], 2); ok {
			return []byte{byte(r)}, 4
		}
	case c >= '0' && c <= '3' && len(at) >= 4 && octal(at[2]) && octal(at[3]):
		return []byte{(c-'0')<<6 | (at[2]-'0')<<3 | (at[3] - '0')}, 4
	case c == '\n':
		return nil, 2
	}
	return at[1:2], 2
}

// shellQuote decodes an apostrophe in a shell's quotes.
func shellQuote(at []byte) ([]byte, int) {
	for _, spelled := range []string{`'\''`, `'"'"'`} {
		if bytes.HasPrefix(at, []byte(spelled)) {
			return at[:1], len(spelled)
		}
	}
	return nil, 0
}

func octal(c byte) bool { return c >= '0' && c <= '7' }

func hexRune(at []byte, n int) (r rune, ok bool) {
	if len(at) < n {
		return 0, false
	}
	for _, c := range at[:n] {
		d := digit(c)
		if d < 0 {
			return 0, false
		}
		r = r<<4 | rune(d)
	}
	return r, true
}

func digit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

func percent(at []byte) ([]byte, int) {
	if r, ok := hexRune(at[1:], 2); ok {
		return []byte{byte(r)}, 3
	}
	return nil, 0
}

// form decodes a URL's query, in which an unescaped plus is a blank.
func form(text []byte) (*view, bool) {
	if bytes.IndexByte(text, '+') < 0 {
		return nil, false
	}
	blanks := bytes.ReplaceAll(text, []byte("+"), []byte(" "))
	v, ok := units('%', percent)(blanks)
	if !ok {
		v = new(view)
		v.copy(blanks, 0, len(blanks))
	}
	return v, true
}

func entity(at []byte) ([]byte, int) {
	end := bytes.IndexByte(at[:min(len(at), 12)], ';')
	if end < 2 {
		return nil, 0
	}
	was := string(at[:end+1])
	if is := html.UnescapeString(was); is != was {
		return []byte(is), end + 1
	}
	return nil, 0
}

// shown decodes what a terminal is sent, as it shows that.
func shown(text []byte) (*view, bool) { return units(0x1b, ansi(text, stringEnd))(text) }

// ansi decodes the sequences of a text for a terminal, to nothing. endOf is
// [stringEnd].
func ansi(text []byte, endOf func([]byte) int) func(at []byte) ([]byte, int) {
	end := -1 // of the string that was looked at last; or each beginning of one without an end would look through all the rest
	return func(at []byte) ([]byte, int) {
		if len(at) < 2 {
			return nil, 0
		}
		switch at[1] {
		case '[':
			for i := 2; i < len(at); i++ {
				if at[i] >= 0x40 && at[i] <= 0x7e {
					return nil, i + 1
				}
				if at[i] < 0x20 || at[i] > 0x7e {
					return nil, 2
				}
			}
		case ']', 'P', '_', '^', 'X':
			from := len(text) - len(at)
			if end < from+2 {
				end = from + 2 + endOf(at[2:])
			}
			switch {
			case end == len(text) || text[end] == '\n':
			case text[end] == 0x07:
				return nil, end + 1 - from
			default:
				return nil, end + 2 - from
			}
		}
		return nil, 2
	}
}

// stringEnd returns where a terminal takes a string to end: at what ends it, or
// for us at the end of its line.
func stringEnd(text []byte) int {
	for i, c := range text {
		if c == 0x07 || c == '\n' || c == 0x1b && i+1 < len(text) && text[i+1] == '\\' {
			return i
		}
	}
	return len(text)
}

// margin returns a decoder that drops what precedes each line's text. sizes
// returns a function that is called for each line, for that many bytes.
func margin(sizes func() func(line []byte) int) func([]byte) (*view, bool) {
	return func(text []byte) (*view, bool) {
		if bytes.IndexByte(text, '\n') < 0 {
			return nil, false
		}
		size := sizes()
		v, copied := &view{text: make([]byte, 0, len(text))}, 0
		for at := 0; at < len(text); {
			line := text[at:]
			end := bytes.IndexByte(line, '\n') + 1
			if end == 0 {
				end = len(line)
			}
			if n := size(line[:end]); n > 0 {
				v.copy(text, copied, at)
				copied = at + n
			}
			at += end
		}
		v.copy(text, copied, len(text))
		return v, copied > 0
	}
}

// diffMargin is for diffs and quotations. A diff with two parents has two
// signs; in others the second is part of the line.
func diffMargin() func(line []byte) int {
	signs := 1
	return func(line []byte) int {
		next := byte(0)
		if len(line) > 1 {
			next = line[1]
		}
		switch line[0] {
		case '+', '-', ' ':
			if signs == 2 && next != '+' && next != '-' && next != ' ' {
				return 1
			}
			return signs
		case '>', '|':
			if next == ' ' {
				return 2
			}
			return 1
		case '@':
			if next == '@' {
				signs = 1
			}
			if bytes.HasPrefix(line, []byte("@@@ ")) {
				signs = 2
			}
		}
		return 0
	}
}

// numberMargin is for listings: "   12→", "12\t", "12:", "12-", "12 |", "12.".
func numberMargin(line []byte) int {
	digits := len(line) - len(bytes.TrimLeft(line, " \t"))
	end := digits
	for end < len(line) && line[end] >= '0' && line[end] <= '9' {
		end++
	}
	if end == digits || end-digits > 9 {
		return 0
	}
	rest := line[end:]
	for _, sign := range []string{"→", "\t", ": ", ":", " | ", " |", "| ", "|", "-", ". ", "  "} {
		if bytes.HasPrefix(rest, []byte(sign)) {
			return end + len(sign)
		}
	}
	return 0
}

// inRow is the least run of UTF-16 characters: binary data has single ones.
const inRow = 4

// wide decodes ASCII in UTF-16, with these offsets of a character's bytes.
func wide(letter, zero int) func([]byte) (*view, bool) {
	return func(text []byte) (*view, bool) {
		if !wideAnywhere(text) {
			return nil, false
		}
		pair := func(i int) bool {
			return i+1 < len(text) && text[i+zero] == 0 && text[i+letter] != 0 && text[i+letter] < 0x80
		}
		row, most := 0, 0
		for i := 0; i < len(text) && most < inRow; i++ {
			if row = 0; !pair(i) {
				continue
			}
			for ; pair(i); i += 2 {
				row++
			}
			most = max(most, row)
			i--
		}
		if most < inRow {
			return nil, false
		}
		v, copied := &view{text: make([]byte, 0, len(text))}, 0
		for i := 0; i+1 < len(text); i++ {
			if c := text[i+letter]; pair(i) {
				v.copy(text, copied, i)
				v.put([]byte{c}, i, i+2)
				copied = i + 2
				i++
			}
		}
		v.copy(text, copied, len(text))
		return v, copied > 0
	}
}

// unwrap joins all lines, with or without their indentation.
func unwrap(indented bool) func([]byte) (*view, bool) {
	return func(text []byte) (*view, bool) {
		if end := bytes.IndexByte(text, '\n') + 1; end == 0 || end == len(text) { // nothing is joined
			return nil, false
		}
		v, copied := &view{text: make([]byte, 0, len(text))}, 0
		for i := 0; i < len(text); i++ {
			next := bytes.IndexByte(text[i:], '\n')
			if next < 0 {
				break
			}
			i += next
			from, to := i, i+1
			if from > 0 && text[from-1] == '\r' {
				from--
			}
			for indented && to < len(text) && (text[to] == ' ' || text[to] == '\t') {
				to++
			}
			v.copy(text, copied, from)
			copied, i = to, to-1
		}
		v.copy(text, copied, len(text))
		return v, true
	}
}
