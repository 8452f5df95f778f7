package cmdline

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Excerpts prints the matching lines of untrusted texts below titles.
type Excerpts struct {
	w       io.Writer
	columns int // of the terminal, or 0
	colour  bool
}

// NewExcerpts prints to w, fitted to columns unless that is 0.
func NewExcerpts(w io.Writer, columns int, colour bool) *Excerpts {
	return &Excerpts{w, columns, colour}
}

// found is the style of a match, as in git grep.
const found Style = "1;31"

// In columns: how wide names of places are, and a text at least.
const (
	placeWidth = 8
	leastRoom  = 20
)

func (e *Excerpts) paint(s Style, text string) string { return paint(s, text, e.colour) }

// Title begins an excerpt with a name, an age, and a description.
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

// Line prints a place and a line: on a terminal, the part around its matches.
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

type piece struct {
	text  string
	found bool
}

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

// fit cuts a line to columns, keeping the first match.
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

// truncated is [Truncate] for a text that goes on, even if it fits.
func truncated(text string, columns int) string { return Truncate(text+" ", columns) }

// lastColumns cuts the beginning of a text to columns, with an ellipsis.
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
