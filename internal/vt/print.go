package vt

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// widths are tmux's: ambiguous characters are narrow in every locale.
var widths = runewidth.Condition{StrictEmojiNeutral: true}

// lines are the line-drawing characters for the letters from ` to ~.
const lines = "◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·"

// ascii prints a run of printable ASCII.
func (s *screen) ascii(b []byte) {
	if s.insertMode || s.noWrap || s.cursor.lines[s.shift] {
		for _, c := range b {
			s.print(rune(c))
		}
		return
	}
	s.settle()
	s.last = rune(b[len(b)-1])
	for len(b) > 0 {
		if s.x >= s.cols {
			s.wrap()
		}
		r := s.page[s.y]
		n := min(len(b), s.cols-s.x)
		r.split(s.x)
		r.split(s.x + n)
		for i, c := range b[:n] {
			r.cells[s.x+i] = cell{r: rune(c)}
		}
		r.change(s.x + n)
		s.x += n
		b = b[n:]
	}
}

func (s *screen) print(c rune) {
	if s.cursor.lines[s.shift] && c >= '`' && c <= '~' {
		c = []rune(lines)[c-'`']
	}
	width := 1
	if c >= utf8.RuneSelf {
		if unicode.In(c, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) && c != '\u200c' && c != '\u200d' {
			return // a terminal would act on it
		}
		width = widths.RuneWidth(c)
	}
	if width == 0 || c >= utf8.RuneSelf && s.joins(c) {
		s.mark(c)
		return
	}
	s.settle()
	if width > s.cols {
		return
	}
	if s.x > s.cols-width {
		if s.noWrap {
			if width > 1 {
				return
			}
			s.x = s.cols - 1
		} else {
			s.wrap()
		}
	}
	s.last = c
	r := s.page[s.y]
	if s.insertMode {
		r.insert(s.x, width)
	}
	r.split(s.x)
	r.split(s.x + width)
	r.cells[s.x] = cell{r: c}
	if width == 2 {
		r.cells[s.x+1] = cell{r: right}
	}
	r.change(s.x + width)
	s.x += width
}

const (
	joiner = '\u200d' // of emoji
	emoji  = '\ufe0f' // asks for the colourful form
)

// isModifier reports whether a rune gives an emoji the colour of a skin.
func isModifier(c rune) bool { return c >= '\U0001f3fb' && c <= '\U0001f3ff' }

// before returns the column of the cell before the cursor, or -1 without a
// character there.
func (s *screen) before() int {
	r := s.page[s.y]
	x := min(s.x, s.cols) - 1
	if x > 0 && r.cells[x].r == right {
		x--
	}
	if x >= 0 && r.cells[x].r == blank {
		return -1
	}
	return x
}

// joins reports whether a rune that has a width goes into the cell before the
// cursor.
func (s *screen) joins(c rune) bool {
	x := s.before()
	if x < 0 {
		return false
	}
	cell := s.page[s.y].cells[x]
	return cell.marks != nil && strings.HasSuffix(*cell.marks, string(joiner)) ||
		s.clusters && isModifier(c) && s.x > x+1
}

// mark combines a rune with the cell before the cursor.
func (s *screen) mark(c rune) {
	x := s.before()
	if x < 0 {
		return // no character to combine with
	}
	r := s.page[s.y]
	marks := string(c)
	if old := r.cells[x].marks; old != nil {
		if len(*old) >= maxMarks {
			return
		}
		marks = *old + marks
	}
	r.cells[x].marks = &marks
	r.change(0)
	if s.clusters && c == emoji && s.x == x+1 && s.x < s.cols { // it makes it wide
		r.split(s.x + 1)
		r.cells[s.x] = cell{r: right}
		s.x++
		r.change(s.x)
	}
}

func (s *screen) wrap() {
	s.page[s.y].wrapped = true
	s.x = 0
	s.down()
}

// down moves the cursor down, or scrolls in the last row.
func (s *screen) down() {
	s.beyond.x, s.beyond.y = 0, 0
	switch {
	case s.y == s.bottom:
		s.scrollUp(1)
	case s.y < s.rows-1:
		s.y++
	}
}
