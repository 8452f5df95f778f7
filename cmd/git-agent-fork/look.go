package main

import (
	"os"

	"github.com/gdamore/tcell/v2"
	"github.com/gdamore/tcell/v2/terminfo"
	"github.com/mattn/go-runewidth"
)

// adaptLook makes the finder readable on dark and light backgrounds. The
// library's colours are fixed: a black frame, a blue prompt, a yellow cursor
// line on black. But the terminal's description defines what a colour is, so
// here the frame is faint, the prompt bold, the cursor line reverse, and
// matches are green, or underlined without colour or on the reverse line.
//
// It also makes ambiguous characters narrow. The library asks the locale, but
// tcell, which draws, asks only RUNEWIDTH_EASTASIAN; if they differ, a gap
// follows each "é".
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
	// Truecolour names colours directly, and NO_COLOR leaves black and white.
	if err := os.Setenv("TCELL_TRUECOLOR", "disable"); err != nil {
		return err
	}
	return os.Unsetenv("NO_COLOR")
}
