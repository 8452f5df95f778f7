package cmdline

import (
	"bufio"
	"io"
	"slices"
	"strings"
)

// A Table prints rows with aligned columns. A long one that is made with [Table.Add] is printed in
// parts, each aligned for itself, but no column becomes narrower.
//
// On a terminal it is fitted to the width, narrowing the widest column first. Elsewhere nothing is
// coloured, and only what is longer than anything of ours is cut. The cells are strangers' texts; the table escapes them.
type Table struct {
	columns []Column
	rows    [][]string
	printed []int // how wide the columns were that have been printed
}

// A Column says how the cells of one column look.
type Column struct {
	Right bool  // flush right, for numbers
	Style Style // where colours are wanted
}

// NewTable makes a table without rows.
func NewTable(columns ...Column) *Table {
	return &Table{columns: columns}
}

// Row adds a row, one cell for each column. For prose see [OneLine].
func (t *Table) Row(cells ...string) {
	row := make([]string, len(t.columns))
	for i := range row {
		row[i] = shorten(Escape(cells[i]), maxCell)
	}
	t.rows = append(t.rows, row)
}

// part is how many rows are aligned with each other.
const part = 1000

// Add is Row for a table of any length: when there are enough rows, they are printed.
func (t *Table) Add(w io.Writer, cells ...string) error {
	t.Row(cells...)
	if len(t.rows) < part {
		return nil
	}
	return t.Print(w)
}

// Print writes the table, or what was added to it since, fitted and coloured to suit w.
func (t *Table) Print(w io.Writer) error {
	err := t.print(w, Columns(w), Colour(w))
	t.rows = t.rows[:0]
	return err
}

// gap separates two columns.
const gap = "  "

// print writes the table to w, a terminal with that many columns, or 0 if it is not one.
func (t *Table) print(w io.Writer, columns int, colour bool) error {
	t.printed = t.widths()
	widths := slices.Clone(t.printed)
	if columns > 0 {
		narrow(widths, columns-len(gap)*(len(widths)-1))
	}
	b := bufio.NewWriter(w)
	for _, row := range t.rows {
		pad := 0 // spaces due before the next text, so that no line ends in spaces
		for i, text := range row {
			if i > 0 {
				pad += len(gap)
			}
			if columns > 0 {
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
			b.WriteString(strings.Repeat(" ", pad))
			if colour {
				text = t.columns[i].Style.Paint(text)
			}
			b.WriteString(text)
			pad = rest
		}
		b.WriteByte('\n')
	}
	return b.Flush()
}

// widths returns the preferred width of each column.
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

// narrow shrinks the widest column until all fit into the room.
func narrow(widths []int, room int) {
	total := 0
	for _, w := range widths {
		total += w
	}
	for ; total > room; total-- {
		widest := 0
		for i, w := range widths {
			if w >= widths[widest] { // of equals the last: a cut text is more useful than a cut number
				widest = i
			}
		}
		if widths[widest] <= 1 {
			return // a terminal too narrow for anything
		}
		widths[widest]--
	}
}
