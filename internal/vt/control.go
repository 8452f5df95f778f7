package vt

import (
	"slices"
	"strings"
)

// control executes a control character.
func (s *screen) control(c byte) {
	if c >= '\b' && c <= '\r' { // these move it
		s.beyond.x, s.beyond.y = 0, 0
	}
	switch c {
	case '\b':
		switch {
		case s.x > 0:
			s.x--
		case s.y > 0 && s.page[s.y-1].wrapped:
			s.y--
			s.x = s.cols - 1
		}
	case '\t':
		for s.x < s.cols-1 {
			s.x++
			if s.tabs[s.x] {
				break
			}
		}
	case '\n', '\v', '\f':
		s.down()
	case '\r':
		s.x = 0
	case 0x0e, 0x0f: // SO, SI
		s.shift = int(0x0f - c)
	case 0x1b:
		s.state = escape
	}
}

// escapeCommand executes ESC and one byte.
func (s *screen) escapeCommand(c byte) {
	switch c {
	case '7':
		s.saved = s.cursor
	case '8':
		s.restoreCursor()
	case 'D':
		s.down()
	case 'E':
		s.x = 0
		s.down()
	case 'H':
		if s.x < s.cols {
			s.tabs[s.x] = true
		}
	case 'M': // reverse index
		if s.y == s.top {
			s.scrollDown(1)
		} else {
			s.moveTo(s.x, max(s.y-1, 0))
		}
	case 'c':
		s.reset()
	}
}

// begin reports whether a CSI that follows the size does nothing but begin a
// log. What the screen showed counts as scrolled off: a pane can be logged to a
// file again, and its picture is painted over nothing.
func (s *screen) begin(c byte) bool {
	s.begins = false
	clusters := s.private == '?' && c == 'h' && s.params[0] == 2027
	if clusters || s.private == '?' && c == 'h' && s.params[0] == 1049 || s.private == 0 && c == 'H' && s.params[0] == missing {
		s.clusters = clusters
		s.reset()
	}
	return clusters
}

// controlCommand executes a CSI.
func (s *screen) controlCommand(c byte) {
	if s.begins && s.begin(c) {
		return
	}
	switch s.private {
	case 0:
	case '?':
		if c == 'h' || c == 'l' {
			for _, mode := range s.params {
				s.setPrivateMode(mode, c == 'h')
			}
		}
		return
	case '!':
		if c == 'p' { // soft reset
			s.top, s.bottom = 0, s.rows-1
			s.cursor.origin, s.noWrap, s.insertMode = false, false, false
			s.cursor.lines, s.shift = [2]bool{}, 0
			s.saved = cursor{}
		}
		return
	default:
		return
	}
	if strings.IndexByte("JKX@PLM", c) >= 0 {
		s.settle()
	}
	n := s.param(0, 1)
	r := s.page[s.y]
	switch c {
	case 'A':
		s.vertical(-n)
	case 'B', 'e':
		s.vertical(n)
	case 'C', 'a':
		s.moveTo(max(s.x, min(s.x+n, s.cols-1)), s.y)
	case 'D':
		s.moveTo(max(s.x-n, 0), s.y)
	case 'E':
		s.vertical(n)
		s.x = 0
	case 'F':
		s.vertical(-n)
		s.x = 0
	case 'G', '`':
		s.place(n-1, -1)
	case 'd':
		s.place(-1, n-1)
	case 'H', 'f':
		s.place(s.param(1, 1)-1, n-1)
	case 'I':
		for range min(n, s.cols) {
			s.control('\t')
		}
	case 'Z':
		for range min(n, s.cols) {
			for s.x = min(s.x, s.cols-1); s.x > 0; {
				s.x--
				if s.tabs[s.x] {
					break
				}
			}
		}
	case 'J':
		s.eraseScreen(s.param(0, 0))
	case 'K':
		s.eraseLine(s.param(0, 0))
	case 'X':
		r.clear(s.x, s.x+n)
	case '@':
		if s.x < s.cols {
			r.insert(s.x, n)
		}
	case 'P':
		if s.x < s.cols {
			r.remove(s.x, n)
		}
	case 'L', 'M':
		bottom := s.bottom
		if s.y < s.top || s.y > s.bottom {
			bottom = s.rows - 1
		}
		if c == 'L' {
			s.shiftDown(s.y, bottom, n)
		} else {
			s.shiftUp(s.y, bottom, n)
			s.unwrap(bottom - min(n, bottom-s.y) + 1)
		}
		s.moved(s.y)
	case 'S':
		s.scrollUp(n)
	case 'T':
		s.scrollDown(n)
	case 'b':
		if s.last != 0 {
			for range min(n, s.cols-s.x) { // to the row's end
				s.print(s.last)
			}
		}
	case 'g':
		switch s.param(0, 0) {
		case 0:
			if s.x < s.cols {
				s.tabs[s.x] = false
			}
		case 3:
			clear(s.tabs)
		}
	case 'h', 'l':
		if slices.Contains(s.params, 4) {
			s.insertMode = c == 'h'
		}
	case 'r':
		if s.alternate {
			s.grow(0, s.param(1, s.rows)-1)
		}
		top, bottom := n-1, min(s.param(1, s.rows), s.rows)-1
		if top < bottom {
			s.top, s.bottom = top, bottom
			s.moveTo(0, 0)
		}
	case 's':
		s.saved = s.cursor
	case 'u':
		s.restoreCursor()
	case 't':
		if s.param(0, 0) == 8 {
			s.told, s.begins = true, true
			s.resize(s.param(1, s.rows), s.param(2, s.cols))
		}
	}
}

func (s *screen) setPrivateMode(mode int, on bool) {
	switch mode {
	case 6:
		s.cursor.origin = on
		s.place(0, 0)
	case 7:
		s.noWrap = !on
	case 47, 1047:
		s.setAlternate(on, false)
	case 1049:
		s.setAlternate(on, true)
	case 2026: // a synchronised update
		if !on {
			s.painted()
		}
	}
}

func (s *screen) scrollDown(n int) {
	s.shiftDown(s.top, s.bottom, n)
	s.moved(s.top)
}

// moved notes that the rows from y on have moved.
func (s *screen) moved(y int) {
	s.unwrap(y)
	if s.alternate { // compare them in their new place
		for _, r := range s.page {
			r.clean = false
		}
	}
}

func (s *screen) restoreCursor() {
	s.cursor = s.saved
	s.x, s.y = min(s.x, s.cols), min(s.y, s.rows-1)
	s.beyond.x, s.beyond.y = 0, 0
}

// vertical moves the cursor n rows down, within the rows that scroll.
func (s *screen) vertical(n int) {
	low, high := 0, s.rows-1
	if s.y >= s.top {
		low = s.top
	}
	if s.y <= s.bottom {
		high = s.bottom
	}
	s.moveTo(min(s.x, s.cols-1), min(max(s.y+n, low), high))
}

// place puts the cursor where a program says; -1 keeps the column or row.
func (s *screen) place(x, y int) {
	if x < 0 {
		x = s.x
	}
	if y < 0 {
		y = s.y
	} else if s.cursor.origin {
		y = min(y+s.top, s.bottom)
	}
	if !s.told {
		s.grow(x, y)
	}
	s.moveTo(min(x, s.cols-1), min(y, s.rows-1))
	if s.alternate && (x >= s.cols || y >= s.rows) {
		s.beyond.x, s.beyond.y = x, y
	}
}

// moveTo moves the cursor. Programs paint from the top down, so a page is
// complete when the cursor goes up.
func (s *screen) moveTo(x, y int) {
	if y < s.y {
		s.painted()
	}
	s.x, s.y = x, y
	s.beyond.x, s.beyond.y = 0, 0
}

// eraseScreen erases below the cursor, above it, or everything.
func (s *screen) eraseScreen(what int) {
	switch {
	case what == 2, what == 0 && s.x == 0 && s.y == 0:
		s.clearAll()
	case what == 0:
		s.page[s.y].clear(s.x, s.cols)
		s.clear(s.y+1, s.rows)
	case what == 1:
		s.clear(0, s.y)
		s.page[s.y].clear(0, s.x+1)
	}
}

// eraseLine erases right of the cursor, left of it, or everything.
func (s *screen) eraseLine(what int) {
	switch {
	case what == 2, what == 0 && s.x == 0, what == 1 && s.x >= s.cols:
		s.clear(s.y, s.y+1)
	case what == 0:
		s.page[s.y].clear(s.x, s.cols)
	case what == 1:
		s.page[s.y].clear(0, s.x+1)
	}
}

func (s *screen) painted() {
	if s.alternate {
		s.frames.painted(s)
	}
}
