package cmdline

import (
	"io"
	"os"
	"strconv"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"
)

// A Screen is a writer that leads to a terminal by way of something else, a pager, or one whose colours
// are decided.
type Screen struct {
	io.Writer
	Columns int  // of the terminal; 0 if there is none
	Colour  bool // what is written may be coloured
}

// Columns returns the width of the terminal that w leads to, 0 if it leads to none. A terminal of
// unknown width counts as 80.
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

// unknownWidth is how many columns a terminal has that does not tell.
const unknownWidth = 80

// PagedColumns returns the width of the terminal behind a pager that git has started, 0 if git has
// started none. See pager.<command> in git-config(1).
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

// Colour reports whether output to w may be coloured: it is a terminal, not a dumb one, and the
// environment has no NO_COLOR. A Screen knows by itself.
func Colour(w io.Writer) bool {
	if s, ok := w.(*Screen); ok {
		return s.Colour
	}
	return Columns(w) > 0 && Colourful()
}

// Colourful reports whether the environment lets a terminal be coloured.
func Colourful() bool { return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" }

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

// widths are git's and tmux's: an ambiguous character, as the ellipsis is, is narrow in every locale.
// The library's own depend on it.
var widths = runewidth.Condition{StrictEmojiNeutral: true}

// Width returns how many terminal columns text takes. The text must already be safe.
func Width(text string) int {
	if isASCII(text) {
		return len(text)
	}
	return widths.StringWidth(text)
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
	return widths.Truncate(text, columns, "…")
}

// TruncateStart is [Truncate] for a text whose end says more, as a path's does: it cuts the beginning.
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

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
