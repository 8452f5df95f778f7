package cmdline

import (
	"bufio"
	"io"
	"slices"
)

// A Table prints rows with aligned columns. With [Table.Add], a long table is
// printed in parts that are aligned separately, but no column becomes narrower.
//
// On a terminal it has headings, and is fitted to the width by narrowing the
// widest column first. Elsewhere it has no colours, and only cuts cells longer
// than our own. Cells may be untrusted; the table escapes them.
type Table struct {
	columns []Column
	rows    [][]string
	printed []int // widths of printed columns; nil before the first part
}

// A Column is the layout of a column's cells.
type Column struct {
	Name  string // a terminal's heading; the line is omitted if all are empty
	Right bool   // flush right, for numbers
	Path  bool   // a long cell loses its beginning
	Style Style  // if there are colours
	// Styles returns the style of each cell, instead of Style.
	Styles func(cell string) Style

	// Min is the width kept on a narrow terminal while others exceed theirs.
	Min int
	// Key says that the cells name the rows. The column keeps its Min, or else
	// its width, until nothing is left of the others.
	Key bool
	// Spare columns are left out if empty or, the last first, without room.
	Spare bool
}

// NewTable returns a table without rows.
func NewTable(columns ...Column) *Table {
	return &Table{columns: columns}
}

// Row adds a row, one cell for each column, and takes a slice of them. For prose
// see [OneLine].
func (t *Table) Row(cells ...string) {
	row := cells[:len(t.columns):len(t.columns)]
	for i := range row {
		row[i] = shorten(Escape(cells[i]), maxCell)
	}
	t.rows = append(t.rows, row)
}

// These many rows are aligned together: in the first part, a screen or two.
const (
	firstPart = 100
	part      = 1000
)

// Add is Row for a table of any length: it prints each complete part.
func (t *Table) Add(w io.Writer, cells ...string) error {
	t.Row(cells...)
	enough := part
	if t.printed == nil {
		enough = firstPart
	}
	if len(t.rows) < enough {
		return nil
	}
	return t.Print(w)
}

// Print writes the rows not yet printed, fitted and coloured to suit w.
func (t *Table) Print(w io.Writer) error {
	err := t.print(w, Columns(w), Colour(w))
	t.rows = t.rows[:0]
	return err
}

const gap = "  "

func (t *Table) print(w io.Writer, columns int, colour bool) error {
	first := t.printed == nil
	if first && len(t.rows) == 0 {
		return nil
	}
	t.printed = t.widths()
	widths := slices.Clone(t.printed)
	b := bufio.NewWriterSize(w, 1<<16)
	if columns > 0 {
		widths = t.fit(widths, columns)
		headings := make([]string, len(t.columns))
		for i, c := range t.columns {
			headings[i] = c.Name
		}
		if first && slices.ContainsFunc(headings, func(name string) bool { return name != "" }) {
			t.line(b, headings, widths, true, func(_ int, text string) string { return paint(Dim, text, colour) })
		}
	}
	for _, row := range t.rows {
		t.line(b, row, widths, columns > 0, func(i int, text string) string {
			style := t.columns[i].Style
			if of := t.columns[i].Styles; of != nil {
				style = of(text)
			}
			return paint(style, text, colour)
		})
	}
	return b.Flush()
}

func paint(style Style, text string, colour bool) string {
	if !colour {
		return text
	}
	return style.Paint(text)
}

const leftOut = -1

func (t *Table) line(b *bufio.Writer, cells []string, widths []int, cut bool, paint func(i int, text string) string) {
	pad, first := 0, true // spaces before the next text
	for i, text := range cells {
		if widths[i] == leftOut {
			continue
		}
		if !first {
			pad += len(gap)
		}
		first = false
		switch {
		case cut && t.columns[i].Path:
			text = TruncateStart(text, widths[i])
		case cut:
			text = Truncate(text, widths[i])
		}
		rest := widths[i] - Width(text)
		if t.columns[i].Right {
			pad, rest = pad+rest, 0
		}
		if text == "" {
			pad += rest
			continue
		}
		for range pad {
			b.WriteByte(' ')
		}
		b.WriteString(paint(i, text))
		pad = rest
	}
	b.WriteByte('\n')
}

func (t *Table) widths() []int {
	widths := make([]int, len(t.columns))
	copy(widths, t.printed)
	for _, row := range t.rows {
		for i, text := range row {
			widths[i] = max(widths[i], Width(text))
		}
	}
	return widths
}

// fit returns the widths for a terminal, from the preferred ones.
func (t *Table) fit(widths []int, columns int) []int {
	least := make([]int, len(widths))
	need := -len(gap)
	for i, c := range t.columns {
		if c.Spare && widths[i] == 0 {
			widths[i] = leftOut
			continue
		}
		widths[i] = max(widths[i], Width(c.Name))
		least[i] = widths[i]
		if c.Min > 0 {
			least[i] = min(c.Min, widths[i])
		}
		need += len(gap) + least[i]
	}
	for i, c := range slices.Backward(t.columns) {
		if c.Spare && widths[i] != leftOut && need > columns {
			need -= len(gap) + least[i]
			widths[i] = leftOut
		}
	}
	room := columns + len(gap)
	keys := make([]int, len(widths))
	for i, c := range t.columns {
		if c.Key {
			keys[i] = least[i]
		} else {
			least[i] = min(c.Min, least[i])
		}
		if widths[i] != leftOut {
			room -= len(gap)
		}
	}
	narrow(widths, room, least, keys, make([]int, len(widths)))
	return widths
}

// narrow shrinks the widest columns to room, down to each of leasts in turn.
func narrow(widths []int, room int, leasts ...[]int) {
	total := 0
	for _, w := range widths {
		total += max(0, w)
	}
	for _, least := range leasts {
		for total > room {
			widest := -1
			for i, w := range widths {
				// The last of equals: a number is more useful uncut.
				if w > max(1, least[i]) && (widest < 0 || w >= widths[widest]) {
					widest = i
				}
			}
			if widest < 0 {
				break
			}
			widths[widest]--
			total--
		}
	}
}
