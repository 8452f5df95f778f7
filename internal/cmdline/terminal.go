package cmdline

import (
	"io"
	"os"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"
)

// Columns returns the width of the terminal that w writes to, 0 if w is not one. A terminal of
// unknown width counts as 80.
func Columns(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		return width
	}
	return 80
}

// IsTerminal reports whether f is a terminal, for reading or for writing.
func IsTerminal(f *os.File) bool {
	return term.IsTerminal(int(f.Fd()))
}

// Colour reports whether output to w may be coloured: it is a terminal, not a dumb one, and the
// environment has no NO_COLOR.
func Colour(w io.Writer) bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && Columns(w) > 0
}

// A Style is the look of a text where colours are wanted: the parameter of an SGR sequence.
type Style string

// Styles that a terminal with eight colours also has.
const (
	Plain  Style = ""
	Bold   Style = "1"
	Dim    Style = "2"
	Red    Style = "31"
	Green  Style = "32"
	Yellow Style = "33"
	Cyan   Style = "36"
)

// Paint returns text in the style. The text must already be safe.
func (s Style) Paint(text string) string {
	if s == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[m"
}

// Width returns how many terminal columns text takes. The text must already be safe.
func Width(text string) int {
	if isASCII(text) {
		return len(text)
	}
	return runewidth.StringWidth(text)
}

// Truncate cuts text to at most columns of a terminal; an ellipsis, which counts, marks the cut.
// Wide characters and those of several code points are kept whole. The text must already be safe.
func Truncate(text string, columns int) string {
	switch {
	case columns <= 0:
		return ""
	case Width(text) <= columns:
		return text
	case isASCII(text):
		return text[:columns-1] + "…"
	}
	return runewidth.Truncate(text, columns, "…")
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
