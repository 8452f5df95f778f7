package vt

import (
	"bufio"
	"errors"
	"io"
	"slices"
	"unicode/utf8"
)

const (
	startRows, startCols = 24, 80

	// Programs that want a terminal's size put the cursor far beyond it, mostly
	// at 999, and ask where it is.
	maxRows, maxCols = 300, 900
)

// Render reads the output of programs to a terminal and writes its text; see
// the package comment. Memory is bounded by the screen's size, not the input's.
func Render(w io.Writer, r io.Reader) error {
	s := newScreen(bufio.NewWriterSize(w, 64<<10))
	in := bufio.NewReader(r)
	s.write(header(in))
	buf := make([]byte, 64<<10)
	for {
		n, err := in.Read(buf)
		s.write(buf[:n])
		switch {
		case errors.Is(err, io.EOF):
			s.end()
			return s.out.flush()
		case err != nil:
			return err
		case s.out.err != nil:
			return s.out.err
		}
	}
}

// A screen is a terminal without colours.
type screen struct {
	parser
	out printer

	rows, cols int
	told       bool // the log gave its size
	begins     bool // it just did, as at the begin of a log
	clusters   bool // the terminal joins runes as tmux does from 3.6 on
	main, alt  []*row
	page       []*row // main or alt
	alternate  bool
	frames     frames // of alt

	cursor
	saved       cursor
	beforeAlt   cursor
	top, bottom int // inclusive bounds of the rows that scroll
	tabs        []bool
	noWrap      bool
	insertMode  bool
	last        rune               // for REP
	beyond      struct{ x, y int } // where the cursor was put outside of the alternate screen, or zero
}

type cursor struct {
	x, y   int // x is cols if the next rune wraps
	origin bool
	lines  [2]bool // G0 and G1 have line-drawing characters
	shift  int     // which of them is used
}

func newScreen(w *bufio.Writer) *screen {
	s := &screen{out: printer{w: w}}
	s.resize(startRows, startCols)
	return s
}

// resize sets the screen's size. Rows that don't fit scroll off at the top.
func (s *screen) resize(rows, cols int) {
	rows, cols = min(max(rows, 1), maxRows), min(max(cols, 1), maxCols)
	s.top, s.bottom = 0, s.rows-1
	if over := s.y - rows + 1; over > 0 {
		s.scrollUp(over)
		s.y -= over
	}
	s.rows, s.cols = rows, cols
	s.main, s.alt = fit(s.main, rows, cols), fit(s.alt, rows, cols)
	s.page = s.main
	if s.alternate {
		s.page = s.alt
	}
	s.top, s.bottom = 0, rows-1
	s.x = min(s.x, cols)
	for len(s.tabs) < cols {
		s.tabs = append(s.tabs, len(s.tabs)%8 == 0)
	}
}

// fit resizes a page. It reuses rows that were cut off, so that input can't
// make us allocate without end.
func fit(page []*row, rows, cols int) []*row {
	for _, r := range page[min(rows, len(page)):] {
		r.clear(0, len(r.cells))
		r.wrapped = false
	}
	page = slices.Grow(page[:min(rows, len(page))], rows)
	for len(page) < rows {
		page = page[:len(page)+1]
		if last := &page[len(page)-1]; *last == nil {
			*last = new(row)
		}
	}
	for _, r := range page {
		r.resize(cols)
	}
	return page
}

func (s *screen) grow(x, y int) {
	if x < s.cols && y < s.rows || x >= maxCols || y >= maxRows {
		return
	}
	top, bottom, whole := s.top, s.bottom, s.top == 0 && s.bottom == s.rows-1
	s.resize(max(s.rows, y+1), max(s.cols, x+1))
	if !whole {
		s.top, s.bottom = top, bottom
	}
}

// settle grows the alternate screen to the place outside of it where something
// is about to be painted: the terminal was enlarged. Who only asks for the size
// paints nothing there.
func (s *screen) settle() {
	if at := s.beyond; at.x > 0 || at.y > 0 {
		s.grow(at.x, at.y)
		s.moveTo(min(at.x, s.cols-1), min(at.y, s.rows-1))
	}
}

// scrollUp moves the scrolling rows up by n, and writes those that leave.
func (s *screen) scrollUp(n int) {
	n = min(n, s.bottom-s.top+1)
	if s.alternate {
		s.frames.scrolled(s, n)
	} else {
		for _, r := range s.page[s.top : s.top+n] {
			s.out.row(r)
		}
	}
	s.shiftUp(s.top, s.bottom, n)
}

// shiftUp moves the rows from top to bottom up by n.
func (s *screen) shiftUp(top, bottom, n int) {
	n = min(n, bottom-top+1)
	region := s.page[top : bottom+1]
	for range n {
		first := region[0]
		copy(region, region[1:])
		region[len(region)-1] = first
		first.clear(0, s.cols)
		first.wrapped = false
	}
}

// shiftDown moves the rows from top to bottom down by n.
func (s *screen) shiftDown(top, bottom, n int) {
	n = min(n, bottom-top+1)
	region := s.page[top : bottom+1]
	for range n {
		last := region[len(region)-1]
		copy(region[1:], region)
		region[0] = last
		last.clear(0, s.cols)
		last.wrapped = false
	}
}

func (s *screen) clear(from, to int) {
	for _, r := range s.page[from:to] {
		r.clear(0, s.cols)
		r.wrapped = false
	}
	if from < to {
		s.unwrap(from)
	}
}

// unwrap notes that row y does not continue the line above it.
func (s *screen) unwrap(y int) {
	if y > 0 {
		s.page[y-1].wrapped = false
	}
}

// clearAll blanks the screen. The main screen's rows count as scrolled off.
func (s *screen) clearAll() {
	s.say()
	s.clear(0, s.rows)
}

// say writes the main screen, if it is shown.
func (s *screen) say() {
	if s.alternate {
		return
	}
	end := s.rows
	for end > 0 && s.page[end-1].empty() {
		end--
	}
	for _, r := range s.page[:end] {
		s.out.row(r)
	}
}

// setAlternate switches between the main and the alternate screen.
func (s *screen) setAlternate(on, withCursor bool) {
	if on == s.alternate {
		return
	}
	if on {
		s.say()
		s.beforeAlt = s.cursor
		s.page = s.alt
		s.clear(0, s.rows)
		s.frames.begin(s.rows)
	} else {
		s.frames.end(s)
		s.page = s.main
		if withCursor {
			s.cursor = s.beforeAlt
		}
		s.x, s.y = min(s.x, s.cols), min(s.y, s.rows-1)
	}
	s.alternate = on
	s.top, s.bottom = 0, s.rows-1
	s.beyond.x, s.beyond.y = 0, 0
}

// end writes what is visible.
func (s *screen) end() {
	for range s.partial { // never completed runes
		s.print(utf8.RuneError)
	}
	if s.alternate {
		s.frames.end(s)
		return
	}
	s.say()
}

// reset restores the terminal's initial state.
func (s *screen) reset() {
	s.setAlternate(false, false)
	s.clearAll()
	s.cursor, s.saved = cursor{}, cursor{}
	s.noWrap, s.insertMode = false, false
	s.tabs = s.tabs[:0]
	s.resize(s.rows, s.cols)
}
