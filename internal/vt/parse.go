package vt

import (
	"slices"
	"unicode/utf8"
)

// A mode is what the parser is reading.
type mode uint8

const (
	ground        mode = iota
	escape             // after ESC
	intermediate       // after ESC ( and similar: one more byte
	controlParams      // after CSI
	controlIgnore      // in an invalid CSI
	text               // in OSC, DCS and similar, up to ST
	textEscape         // after ESC there, which begins ST or the next sequence
)

const (
	maxParams = 32   // of a sequence
	maxParam  = 9999 // more than any screen's rows or columns
	missing   = -1   // an absent parameter
)

// A parser splits bytes into text and sequences, in pieces of any size.
type parser struct {
	state   mode
	between byte // between ESC and the last byte
	private byte // ? > = < ! and similar in a CSI, or 0
	osc     bool // BEL ends the text too
	params  []int
	partial []byte // a rune cut by a piece's end
}

func (s *screen) write(b []byte) {
	if len(s.partial) > 0 {
		b = append(s.partial, b...)
		s.partial = nil
	}
	for i := 0; i < len(b); {
		c := b[i]
		if s.state == ground && c != 0x1b {
			s.begins = false
		}
		switch {
		case s.state != ground:
			s.sequence(c)
			i++
		case c >= ' ' && c < 0x7f:
			n := i + 1
			for n < len(b) && b[n] >= ' ' && b[n] < 0x7f {
				n++
			}
			s.ascii(b[i:n])
			i = n
		case c < utf8.RuneSelf:
			s.control(c)
			i++
		case utf8.FullRune(b[i:]):
			r, size := utf8.DecodeRune(b[i:])
			s.print(r)
			i += size
		default: // the next piece completes the rune
			s.partial = slices.Clone(b[i:])
			return
		}
	}
}

func (s *screen) sequence(c byte) {
	switch { // these end any sequence
	case c == 0x18 || c == 0x1a: // CAN, SUB
		s.state = ground
		return
	case c == 0x1b && s.state == text:
		s.state = textEscape
		return
	case c == 0x1b:
		s.state = escape
		return
	case c < ' ' && s.state != text && s.state != textEscape: // executed in any sequence
		s.control(c)
		return
	}
	switch s.state {
	case escape:
		s.escape(c)
	case intermediate:
		s.state = ground
		if s.between == '(' || s.between == ')' { // selects G0 or G1
			s.cursor.lines[s.between-'('] = c == '0'
		}
	case controlParams:
		s.controlByte(c)
	case controlIgnore:
		if c >= '@' && c <= '~' {
			s.state = ground
		}
	case textEscape:
		s.state = ground
		if c != '\\' {
			s.state = escape
			s.sequence(c)
		}
	case text:
		if c == 0x07 && s.osc {
			s.state = ground
		}
	}
}

func (s *screen) escape(c byte) {
	s.state = ground
	switch {
	case c == '[':
		s.state, s.private, s.params = controlParams, 0, append(s.params[:0], missing)
	case c == ']':
		s.state, s.osc = text, true
	case c == 'P' || c == 'X' || c == '^' || c == '_' || c == 'k': // k: GNU screen's title
		s.state, s.osc = text, false
	case c >= ' ' && c <= '/':
		s.state, s.between = intermediate, c
	default:
		s.escapeCommand(c)
	}
}

func (s *screen) controlByte(c byte) {
	last := len(s.params) - 1
	switch {
	case c >= '0' && c <= '9':
		if n := max(s.params[last], 0)*10 + int(c-'0'); n <= maxParam {
			s.params[last] = n
		}
	case c == ';' || c == ':':
		if len(s.params) == maxParams {
			s.state = controlIgnore
			return
		}
		s.params = append(s.params, missing)
	case c >= '<' && c <= '?' || c >= ' ' && c <= '/':
		s.private = c
	case c >= '@' && c <= '~':
		s.state = ground
		s.controlCommand(c)
	default:
		s.state = controlIgnore
	}
}

// param returns a CSI's parameter. 0 counts as 1 unless it is the default.
func (s *screen) param(i, byDefault int) int {
	if i >= len(s.params) || s.params[i] == missing {
		return byDefault
	}
	return max(s.params[i], min(byDefault, 1))
}
