package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/gdamore/tcell/v2"
	"github.com/ktr0731/go-fuzzyfinder/matching"

	"gitagent/internal/cmdline"
)

// A picker shows the turns that match what a person types. The first is next to
// the prompt, at the bottom: the newest, or the best match and of equal ones the
// newest. Beside it is a preview, where there is room.
type picker struct {
	f      *finder
	screen tcell.Screen
	label  string // of the prompt
	many   bool   // Tab marks

	query  []rune
	at     int   // the cursor in query
	marked []int // turns

	stale    bool        // a search is due
	searches chan result // of the one that is under way, or nil
	result
	chosen int // of found
	low    int // the first of found that is shown
}

// A result is what a search has found.
type result struct {
	text  string // that was searched for
	all   int    // turns that were searched
	found []matching.Matched
}

// more is the event that there are more turns.
const more = "more"

// refresh is how often turns that were read meanwhile come into the list.
const refresh = 50 * time.Millisecond

// run returns the chosen turns; without any, the error is errNone. Run again, it
// goes on where it was.
func (l *picker) run(ctx context.Context) ([]int, error) {
	stop := context.AfterFunc(ctx, func() { _ = l.screen.PostEvent(tcell.NewEventInterrupt(nil)) })
	defer stop()
	defer l.watch()()
	l.stale, l.marked = true, nil
	l.search(true)
	for {
		l.search(false)
		if !l.screen.HasPendingEvent() {
			l.draw()
			l.screen.Show()
		}
		if !l.screen.HasPendingEvent() {
			l.preview(ctx)
			l.screen.Show()
		}
		switch event := l.screen.PollEvent().(type) {
		case *tcell.EventResize:
			l.screen.Sync()
		case *tcell.EventInterrupt:
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			l.stale = l.stale || event.Data() == more
		case *tcell.EventKey:
			switch event.Key() {
			case tcell.KeyEsc, tcell.KeyCtrlC, tcell.KeyCtrlD:
				return nil, errNone
			case tcell.KeyEnter:
				l.search(true)
				if len(l.marked) == 0 && len(l.found) > 0 {
					l.marked = []int{l.found[l.chosen].Idx}
				}
				if len(l.marked) == 0 {
					return nil, errNone
				}
				return l.marked, nil
			}
			l.press(event)
		}
	}
}

// watch has run look again when there are more turns. It returns what ends that.
func (l *picker) watch() func() {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(refresh)
		defer tick.Stop()
		for seen := -1; ; {
			select {
			case <-end:
				return
			case <-tick.C:
			}
			if now := len(l.f.read()); now != seen {
				seen = now
				_ = l.screen.PostEvent(tcell.NewEventInterrupt(more))
			}
		}
	}()
	return func() { close(end); <-ended }
}

// search begins to search if that is due, and takes what was found; if wait, all
// that there is. A search among 10,000 turns takes longer than a key.
func (l *picker) search(wait bool) {
	for {
		if l.searches == nil {
			if !l.stale {
				return
			}
			l.stale = false
			ended, text := make(chan result, 1), string(l.query)
			l.searches = ended
			go func() {
				lines := l.f.read()
				ended <- result{text, len(lines), match(text, lines)}
				_ = l.screen.PostEvent(tcell.NewEventInterrupt(nil))
			}()
		}
		if wait {
			l.take(<-l.searches)
			continue
		}
		select {
		case r := <-l.searches:
			l.take(r)
		default:
			return
		}
	}
}

// take shows what a search has found. Of the same text, the chosen turn stays that.
func (l *picker) take(r result) {
	l.searches = nil
	if r.text != string(l.query) {
		l.stale = true
		return
	}
	at := 0
	if r.text == l.text && l.chosen < len(l.found) {
		chosen := l.found[l.chosen].Idx
		at = max(0, slices.IndexFunc(r.found, func(m matching.Matched) bool { return m.Idx == chosen }))
	} else {
		l.low = 0
	}
	l.result, l.chosen = r, at
}

// match returns the lines that match a query, the best first, and of equal ones
// the first. The library has the last of equal ones first.
func match(query string, lines []string) []matching.Matched {
	if query == "" {
		found := make([]matching.Matched, len(lines))
		for i := range found {
			found[i].Idx = i
		}
		return found
	}
	lines = slices.Clone(lines)
	slices.Reverse(lines)
	found := matching.FindAll(query, lines)
	for i := range found {
		found[i].Idx = len(lines) - 1 - found[i].Idx
	}
	return found
}

// press edits the query, or moves in the list.
func (l *picker) press(event *tcell.EventKey) {
	if event.Key() != tcell.KeyRune {
		l.search(true) // for what was typed before
	}
	_, height := l.screen.Size()
	page, last := max(1, height-3), max(0, len(l.found)-1)
	was := string(l.query)
	switch event.Key() {
	case tcell.KeyUp, tcell.KeyCtrlK, tcell.KeyCtrlP:
		l.chosen = min(l.chosen+1, last)
	case tcell.KeyDown, tcell.KeyCtrlJ, tcell.KeyCtrlN:
		l.chosen = max(l.chosen-1, 0)
	case tcell.KeyPgUp:
		l.chosen = min(l.chosen+page, last)
	case tcell.KeyPgDn:
		l.chosen = max(l.chosen-page, 0)
	case tcell.KeyTab:
		if l.many && len(l.found) > 0 {
			l.mark(l.found[l.chosen].Idx)
			l.chosen = max(l.chosen-1, 0)
		}
	case tcell.KeyLeft, tcell.KeyCtrlB:
		l.at = max(l.at-1, 0)
	case tcell.KeyRight, tcell.KeyCtrlF:
		l.at = min(l.at+1, len(l.query))
	case tcell.KeyHome, tcell.KeyCtrlA:
		l.at = 0
	case tcell.KeyEnd, tcell.KeyCtrlE:
		l.at = len(l.query)
	case tcell.KeyBackspace, tcell.KeyBackspace2:
		l.erase(l.at - 1)
	case tcell.KeyDelete:
		if l.at < len(l.query) {
			l.query = slices.Delete(l.query, l.at, l.at+1)
		}
	case tcell.KeyCtrlU:
		l.erase(0)
	case tcell.KeyCtrlW:
		from := l.at
		for from > 0 && unicode.IsSpace(l.query[from-1]) {
			from--
		}
		for from > 0 && !unicode.IsSpace(l.query[from-1]) {
			from--
		}
		l.erase(from)
	case tcell.KeyRune:
		if r := event.Rune(); unicode.IsPrint(r) && len(l.query) < maxQuery {
			l.query = slices.Insert(l.query, l.at, r)
			l.at++
		}
	}
	if string(l.query) != was {
		l.stale = true
	}
}

// maxQuery is more than a person types.
const maxQuery = 200

// erase removes the query from there to the cursor.
func (l *picker) erase(from int) {
	if from >= 0 {
		l.query = slices.Delete(l.query, from, l.at)
		l.at = from
	}
}

// mark marks a turn, or takes its mark away.
func (l *picker) mark(turn int) {
	if i := slices.Index(l.marked, turn); i >= 0 {
		l.marked = slices.Delete(l.marked, i, i+1)
	} else {
		l.marked = append(l.marked, turn)
	}
}

// draw draws all but the preview.
func (l *picker) draw() {
	l.screen.Clear()
	columns, height := l.screen.Size()
	l.drawPrompt(columns, height-1)
	l.screen.PutStrStyled(2, height-2, fmt.Sprintf("%d/%d", len(l.found), l.all), tcell.StyleDefault.Dim(true))
	rows := max(1, height-2)
	l.low = max(min(l.low, l.chosen), l.chosen-rows+1)
	if columns >= wide {
		columns = columns/2 - 1
	}
	lines := l.f.read()
	for i := l.low; i < min(l.low+rows, len(l.found)); i++ {
		l.drawLine(lines[l.found[i].Idx], l.found[i], height-3-(i-l.low), columns, i == l.chosen)
	}
}

// leastQuery is how many columns the query has at least.
const leastQuery = 12

// drawPrompt draws the label, as much of it as there is room for, and the query
// around the cursor.
func (l *picker) drawPrompt(columns, y int) {
	label := l.label + " > "
	if cmdline.Width(label)+leastQuery > columns {
		label = "> "
	}
	l.screen.PutStrStyled(0, y, label, tcell.StyleDefault.Bold(true))
	x := cmdline.Width(label)
	query := l.query
	from := 0
	for from < l.at && x+cmdline.Width(string(query[from:l.at])) >= columns {
		from++
	}
	l.screen.PutStr(x, y, string(query[from:]))
	l.screen.ShowCursor(x+cmdline.Width(string(query[from:l.at])), y)
}

// drawLine draws a line of the list, with what matches in another style.
func (l *picker) drawLine(text string, m matching.Matched, y, columns int, chosen bool) {
	style := tcell.StyleDefault.Reverse(chosen)
	marks := [2]string{" ", " "}
	if chosen {
		marks[0] = ">"
	}
	if slices.Contains(l.marked, m.Idx) {
		marks[1] = ">"
	}
	l.screen.PutStrStyled(0, y, marks[0]+marks[1], style.Bold(true))
	match := l.f.paint(style, cmdline.Green)
	if chosen || !l.f.colour {
		match = style.Bold(true).Underline(true)
	}
	query := l.query
	for x, i := 2, 0; text != "" && x < columns; {
		s := style
		r := []rune(text)[0]
		if len(query) > 0 && m.Pos[0] <= i && i <= m.Pos[1] && unicode.ToLower(query[0]) == unicode.ToLower(r) {
			s, query = match, query[1:]
		}
		before := text
		var width int
		if text, width = l.screen.Put(x, y, text, s); width == 0 {
			return
		} else if x+width > columns {
			l.screen.PutStrStyled(x, y, strings.Repeat(" ", columns-x), style)
			return
		}
		x += width
		i += len([]rune(before)) - len([]rune(text))
	}
}

// preview draws the chosen turn in the right half of a wide terminal.
func (l *picker) preview(ctx context.Context) {
	columns, height := l.screen.Size()
	if columns < wide || len(l.found) == 0 {
		return
	}
	left := columns / 2
	rows := l.f.preview(ctx, l.found[l.chosen].Idx, columns-left-3)
	for y := range height {
		l.screen.PutStrStyled(left, y, "│", tcell.StyleDefault.Dim(true))
		if y < len(rows) {
			l.screen.PutStrStyled(left+2, y, rows[y].text, l.f.paint(tcell.StyleDefault, rows[y].style))
		}
	}
}
