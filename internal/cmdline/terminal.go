package cmdline

import (
	"io"
	"os"
	"strconv"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"
)

// A Screen is a writer to a terminal behind a pager, or with chosen colours.
type Screen struct {
	io.Writer
	Columns int  // of the terminal, or 0
	Colour  bool // colours are allowed
}

// Columns returns the width of w's terminal, 80 if unknown; 0 without one.
func Columns(w io.Writer) int {
	if s, ok := w.(*Screen); ok {
		return s.Columns
	}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		return width
	}
	return unknownWidth
}

const unknownWidth = 80

// PagedColumns returns the width of the terminal behind git's pager, or 0.
func PagedColumns() int {
	if os.Getenv("GIT_PAGER_IN_USE") == "" {
		return 0
	}
	if width, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && width > 0 {
		return width
	}
	return unknownWidth
}

// IsTerminal reports whether f is a terminal, for reading or for writing.
func IsTerminal(f *os.File) bool {
	return term.IsTerminal(int(f.Fd()))
}

// Colour reports whether output to w may be coloured: w is a terminal that is
// not dumb, and NO_COLOR is not set. A Screen decides for itself.
func Colour(w io.Writer) bool {
	if s, ok := w.(*Screen); ok {
		return s.Colour
	}
	return Columns(w) > 0 && Colourful()
}

// Colourful reports whether the environment allows colours on a terminal.
func Colourful() bool { return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" }

// A Style is the parameter of an SGR sequence.
type Style string

// These styles exist on a terminal with eight colours, too.
const (
	Plain  Style = ""
	Bold   Style = "1"
	Dim    Style = "2"
	Red    Style = "31"
	Green  Style = "32"
	Yellow Style = "33"
	Cyan   Style = "36"
)

// Paint returns text in the style. The text must be safe.
func (s Style) Paint(text string) string {
	if s == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[m"
}

// widths are git's and tmux's: ambiguous characters, such as the ellipsis, are
// narrow in every locale. The library's depend on the locale.
var widths = runewidth.Condition{StrictEmojiNeutral: true}

// Width returns how many terminal columns text takes. The text must be safe.
func Width(text string) int {
	if isASCII(text) {
		return len(text)
	}
	return widths.StringWidth(text)
}

// Truncate cuts text to columns; an ellipsis, which counts, marks the cut. Wide
// and combined characters are kept whole. The text must be safe.
func Truncate(text string, columns int) string {
	switch {
	case columns <= 0:
		return ""
	case Width(text) <= columns:
		return text
	case isASCII(text):
		return text[:columns-1] + "…"
	}
	return widths.Truncate(text, columns, "…")
}

// TruncateStart is [Truncate] for the beginning of a text, such as of a path.
func TruncateStart(text string, columns int) string {
	switch {
	case columns <= 0:
		return ""
	case Width(text) <= columns:
		return text
	case isASCII(text):
		return "…" + text[len(text)-columns+1:]
	}
	return widths.TruncatePrefix(text, columns, "…")
}
