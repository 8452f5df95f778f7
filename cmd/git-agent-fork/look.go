package main

import (
	"os"

	"github.com/gdamore/tcell/v2"
	"github.com/gdamore/tcell/v2/terminfo"
	"github.com/mattn/go-runewidth"
)

// adaptLook makes the finder readable on dark and on light backgrounds. The library has fixed colours:
// a black frame, a blue prompt, a yellow cursor line on black. What a colour is, though, the description
// of the terminal says, and here it says: the frame is faint, the prompt bold, the cursor line reverse,
// and what was found is green, or underlined where no colour may be used or the line is reverse.
//
// It also makes ambiguous characters narrow: the library asks the locale, but draws through tcell, which
// asks RUNEWIDTH_EASTASIAN alone, and where they differ there is a gap behind each "é".
func adaptLook(term string, colour bool) error {
	if os.Getenv("RUNEWIDTH_EASTASIAN") == "" {
		runewidth.DefaultCondition.EastAsianWidth = false
	}
	known, err := tcell.LookupTerminfo(term)
	if err != nil || known.Colors == 0 {
		return err
	}
	own := *known
	own.Name, own.Aliases, own.TrueColor = term, nil, false
	own.Colors = 16
	own.SetFgRGB, own.SetBgRGB, own.SetFgBgRGB, own.SetBg = "", "", "", ""
	own.SetFg = "\x1b[%?%p1%{0}%=%t2%e%p1%{12}%=%t1%e%p1%{8}%<%t3%p1%d%;m"
	if !colour {
		own.SetFg = "\x1b[%?%p1%{0}%=%t2%e%p1%{12}%=%t1%e%p1%{2}%=%t4%;m"
	}
	own.SetFgBg = "\x1b[7%?%p1%{6}%=%t;4%;m"
	terminfo.AddTerminfo(&own)
	// More colours would be asked for by their own names, and none would be black and white.
	if err := os.Setenv("TCELL_TRUECOLOR", "disable"); err != nil {
		return err
	}
	return os.Unsetenv("NO_COLOR")
}
