package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/gdamore/tcell/v2"

	"gitagent/internal/cmdline"
	"gitagent/turns"
)

// page shows a turn on the whole terminal, and reports whether the person takes
// it or else wants the list again.
func (f *finder) page(ctx context.Context, t *turns.Turn) (taken bool, err error) {
	rows := f.describe(ctx, t)
	screen, err := tcell.NewScreen()
	if err == nil {
		err = screen.Init()
	}
	if err != nil {
		return false, fmt.Errorf("show a turn: %w", err)
	}
	defer screen.Fini()
	stop := context.AfterFunc(ctx, func() { _ = screen.PostEvent(tcell.NewEventInterrupt(nil)) })
	defer stop()
	top := 0
	for {
		columns, height := screen.Size()
		lines, room := wrapRows(rows, columns), max(1, height-1)
		top = max(0, min(top, len(lines)-room))
		draw(screen, lines[top:min(top+room, len(lines))], f.footer(top, room, len(lines)))
		switch event := screen.PollEvent().(type) {
		case *tcell.EventResize:
			screen.Sync()
		case *tcell.EventInterrupt:
			return false, ctx.Err()
		case *tcell.EventKey:
			switch key := event.Key(); {
			case key == tcell.KeyEnter:
				return true, nil
			case key == tcell.KeyEsc, key == tcell.KeyLeft, event.Rune() == 'q':
				return false, nil
			case key == tcell.KeyCtrlC, key == tcell.KeyCtrlD:
				return false, errNone
			default:
				top = scroll(top, room, len(lines), event)
			}
		}
	}
}

// scroll returns where the page begins after a key.
func scroll(top, room, lines int, event *tcell.EventKey) int {
	switch key := event.Key(); {
	case key == tcell.KeyDown, event.Rune() == 'j':
		return top + 1
	case key == tcell.KeyUp, event.Rune() == 'k':
		return top - 1
	case key == tcell.KeyPgDn, event.Rune() == ' ':
		return top + room
	case key == tcell.KeyPgUp, event.Rune() == 'b':
		return top - room
	case key == tcell.KeyHome, event.Rune() == 'g':
		return 0
	case key == tcell.KeyEnd, event.Rune() == 'G':
		return lines
	}
	return top
}

// footer names the keys, and how much of the turn has been shown.
func (f *finder) footer(top, room, lines int) string {
	text := fmt.Sprintf("Enter: %s  Esc: back to the list", f.verb)
	if lines > room {
		text += fmt.Sprintf("  Up, Down, Space: scroll  %d%%", min(100, 100*(top+room)/lines))
	}
	return text
}

func draw(screen tcell.Screen, lines []row, footer string) {
	screen.Clear()
	for y, line := range lines {
		screen.PutStrStyled(0, y, line.text, styleOf(line.style))
	}
	_, height := screen.Size()
	screen.PutStrStyled(0, height-1, footer, tcell.StyleDefault.Reverse(true))
	screen.Show()
}

func styleOf(style cmdline.Style) tcell.Style {
	switch style {
	case cmdline.Plain:
		return tcell.StyleDefault
	case cmdline.Bold:
		return tcell.StyleDefault.Bold(true)
	case cmdline.Dim:
		return tcell.StyleDefault.Dim(true)
	}
	colour, err := strconv.Atoi(string(style)) // 31 is red
	if err != nil {
		return tcell.StyleDefault
	}
	return tcell.StyleDefault.Foreground(tcell.PaletteColor(colour - 30))
}
