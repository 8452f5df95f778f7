package cmdline

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Excerpts prints lines of texts with what was looked for in them, below a title each. The texts are
// strangers'.
type Excerpts struct {
	w       io.Writer
	columns int // of the terminal, 0 for none
	colour  bool
}

// NewExcerpts prints to w, fitted to so many columns unless that is 0.
func NewExcerpts(w io.Writer, columns int, colour bool) *Excerpts {
	return &Excerpts{w, columns, colour}
}

const (
	// found is the look of what was looked for, as git grep has it.
	found Style = "1;31"
	// placeWidth is how wide the names of places are.
	placeWidth = 8
	// leastRoom is how many columns a text has at least.
	leastRoom = 20
)

func (e *Excerpts) paint(s Style, text string) string { return paint(s, text, e.colour) }

// Title begins what is found in one thing: its name, its age, and what it is.
func (e *Excerpts) Title(name, age, what string) {
	name, age, what = Escape(name), Escape(age), shorten(Escape(what), maxCell)
	if e.columns > 0 {
		what = Truncate(what, max(leastRoom, e.columns-Width(name)-Width(age)-2*len(gap)))
	}
	line := e.paint(Yellow, name) + gap + e.paint(Dim, age)
	if what != "" {
		line += gap + what
	}
	fmt.Fprintln(e.w, line)
}

// Line prints where a line was found, and the line: on a terminal, the part around what was looked
// for, which is at these offsets.
func (e *Excerpts) Line(place, text string, spans [][2]int) {
	pieces := cut(text, spans)
	if e.columns > 0 {
		pieces = fit(pieces, max(leastRoom, e.columns-2*len(gap)-placeWidth-len(gap)))
	}
	var b strings.Builder
	for _, p := range pieces {
		if p.found {
			b.WriteString(e.paint(found, p.text))
		} else {
			b.WriteString(p.text)
		}
	}
	place = Escape(place)
	fmt.Fprintf(e.w, "%s%s%s%s%s\n", gap+gap, e.paint(Cyan, place), strings.Repeat(" ", max(0, placeWidth-Width(place))), gap, b.String())
}

// More says how many lines are left out.
func (e *Excerpts) More(n int) {
	fmt.Fprintln(e.w, gap+gap+e.paint(Dim, "and "+Plural(n, "more line")))
}

// A piece is a part of a line that can be printed.
type piece struct {
	text  string
	found bool
}

// cut makes a line safe, piece by piece.
func cut(text string, spans [][2]int) []piece {
	var pieces []piece
	add := func(text string, found bool) {
		text = Escape(strings.ReplaceAll(text, "\t", " "))
		if len(pieces) == 0 {
			text = strings.TrimLeft(text, " ")
		}
		if text != "" {
			pieces = append(pieces, piece{text, found})
		}
	}
	at := 0
	for _, s := range spans {
		add(text[at:s[0]], false)
		add(text[s[0]:s[1]], true)
		at = s[1]
	}
	add(strings.TrimRight(text[at:], " \t"), false)
	return pieces
}

// fit cuts a line to so many columns, with what was found first in it.
func fit(pieces []piece, columns int) []piece {
	total := 0
	for _, p := range pieces {
		total += Width(p.text)
	}
	if total <= columns || len(pieces) == 0 {
		return pieces
	}
	if first := pieces[0]; !first.found && len(pieces) > 1 {
		room := max(columns/4, columns-(total-Width(first.text)))
		pieces = append([]piece{{lastColumns(first.text, room), false}}, pieces[1:]...)
	}
	var fitted []piece
	for i, p := range pieces {
		width := Width(p.text)
		if width > columns || width == columns && i < len(pieces)-1 {
			return append(fitted, piece{truncated(p.text, columns), p.found})
		}
		fitted = append(fitted, p)
		columns -= width
	}
	return fitted
}

// truncated is [Truncate] for a text behind which something is left out, even if it fits.
func truncated(text string, columns int) string { return Truncate(text+" ", columns) }

// lastColumns cuts a text at its beginning to so many columns; an ellipsis marks the cut.
func lastColumns(text string, columns int) string {
	if Width(text) <= columns {
		return text
	}
	width := 1 // of the ellipsis
	at := len(text)
	for at > 0 {
		_, size := utf8.DecodeLastRuneInString(text[:at])
		if width += Width(text[at-size : at]); width > columns {
			break
		}
		at -= size
	}
	return "…" + text[at:]
}
