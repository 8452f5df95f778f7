package vt

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

type cell struct {
	r     rune    // blank, or right, the right half of a wide cell
	marks *string // combining marks; nil for none
}

const (
	blank = 0
	right = -1
)

// maxMarks is the most bytes of marks in a cell.
const maxMarks = 32

type row struct {
	cells   []cell
	used    int  // later cells are blank
	wrapped bool // the line continues in the row below
	clean   bool // written or compared since its last change
}

func (r *row) change(end int) {
	r.clean = false
	r.used = max(r.used, end)
}

// clear blanks cells, and the other halves of wide cells.
func (r *row) clear(from, to int) {
	from, to = max(from, 0), min(to, len(r.cells))
	if from >= to {
		return
	}
	r.split(from)
	r.split(to)
	clear(r.cells[from:min(to, max(from, r.used))])
	r.clean = false
	if to >= r.used {
		r.used = min(r.used, from)
	}
}

// split blanks a wide cell if its right half is at x.
func (r *row) split(x int) {
	if x > 0 && x < len(r.cells) && r.cells[x].r == right {
		r.cells[x-1], r.cells[x] = cell{}, cell{}
	}
}

// insert moves the cells from x on n to the right.
func (r *row) insert(x, n int) {
	n = min(n, len(r.cells)-x)
	r.split(x)
	r.split(len(r.cells) - n)
	copy(r.cells[x+n:], r.cells[x:])
	clear(r.cells[x : x+n])
	r.change(min(len(r.cells), r.used+n))
}

// remove moves the cells from x+n on n to the left.
func (r *row) remove(x, n int) {
	n = min(n, len(r.cells)-x)
	r.split(x)
	r.split(x + n)
	copy(r.cells[x:], r.cells[x+n:])
	clear(r.cells[len(r.cells)-n:])
	r.change(0)
}

func (r *row) resize(cols int) {
	r.clear(cols, len(r.cells))
	if cols > len(r.cells) {
		r.cells = slices.Grow(r.cells, cols-len(r.cells)) // spare cells are clear
	}
	r.cells = r.cells[:cols]
}

// text appends the row's text to b, without white space at the end unless it
// goes on.
func (r *row) text(b []byte, goesOn bool) []byte {
	start := len(b)
	for _, c := range r.cells[:r.used] {
		switch c.r {
		case blank:
			b = append(b, ' ')
		case right:
		default:
			b = utf8.AppendRune(b, c.r)
		}
		if c.marks != nil {
			b = append(b, *c.marks...)
		}
	}
	if goesOn {
		return b
	}
	return b[:start+len(bytes.TrimRight(b[start:], " \u00a0"))]
}

func (r *row) empty() bool {
	for _, c := range r.cells[:r.used] {
		if c.r != blank && c.r != ' ' {
			return false
		}
	}
	return true
}
