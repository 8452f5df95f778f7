package main

import (
	"fmt"
	"strconv"

	"github.com/gdamore/tcell/v2"
	"github.com/gdamore/tcell/v2/terminfo"

	"gitagent/internal/cmdline"
	"gitagent/internal/terminal"
)

// newScreen returns a screen on this process's terminal, which the caller ends,
// and whether it has colours.
func newScreen(term string) (screen tcell.Screen, colours bool, err error) {
	known, err := describeTerminal(term)
	if err != nil {
		return nil, false, err
	}
	screen, err = tcell.NewTerminfoScreenFromTtyTerminfo(nil, known)
	if err == nil {
		err = screen.Init()
	}
	if err != nil {
		return nil, false, err
	}
	return screen, screen.Colors() > 0, nil
}

// likeMost is the terminal that those imitate of which nobody has a description.
const likeMost = "xterm-256color"

// describeTerminal returns what a terminal understands. Neither the library nor
// the system knows the newest ones, but these understand what xterm does.
func describeTerminal(term string) (*terminfo.Terminfo, error) {
	known, err := tcell.LookupTerminfo(term)
	if terminal.Failed(err) { // infocmp, which the library asks
		return tcell.LookupTerminfo(likeMost)
	}
	if err != nil {
		return nil, cmdline.Hint(fmt.Errorf("TERM=%s: %w", cmdline.OneLine(term), err),
			"set what your terminal understands, for most: TERM="+likeMost+"; or name the turn")
	}
	return known, nil
}

// paint adds one of our styles to one of the screen's.
func (f *finder) paint(on tcell.Style, style cmdline.Style) tcell.Style {
	switch style {
	case cmdline.Plain:
		return on
	case cmdline.Bold:
		return on.Bold(true)
	case cmdline.Dim:
		return on.Dim(true)
	}
	colour, err := strconv.Atoi(string(style)) // 31 is red
	if err != nil || !f.colour {
		return on
	}
	return on.Foreground(tcell.PaletteColor(colour - 30))
}
