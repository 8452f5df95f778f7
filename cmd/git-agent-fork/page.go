package main

import (
	"context"
	"fmt"

	"github.com/gdamore/tcell/v2"

	"gitagent/turns"
)

// page shows a turn on the whole terminal, and reports whether the person takes
// it or else wants the list again.
func (f *finder) page(ctx context.Context, screen tcell.Screen, t *turns.Turn) (taken bool, err error) {
	rows := f.describe(ctx, t)
	screen.HideCursor()
	stop := context.AfterFunc(ctx, func() { _ = screen.PostEvent(tcell.NewEventInterrupt(nil)) })
	defer stop()
	top := 0
	for {
		columns, height := screen.Size()
		lines, room := wrapRows(rows, columns), max(1, height-1)
		top = max(0, min(top, len(lines)-room))
		f.draw(screen, lines[top:min(top+room, len(lines))], f.footer(top, room, len(lines)))
		switch event := screen.PollEvent().(type) {
		case *tcell.EventResize:
			screen.Sync()
		case *tcell.EventInterrupt: // of ctx, or left by the list
			if err := ctx.Err(); err != nil {
				return false, err
			}
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

func (f *finder) draw(screen tcell.Screen, lines []row, footer string) {
	screen.Clear()
	for y, line := range lines {
		screen.PutStrStyled(0, y, line.text, f.paint(tcell.StyleDefault, line.style))
	}
	_, height := screen.Size()
	screen.PutStrStyled(0, height-1, footer, tcell.StyleDefault.Reverse(true))
	screen.Show()
}
