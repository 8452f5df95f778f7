package vt

import (
	"fmt"
	"strings"
	"testing"
)

// page paints a page of 10 rows over the present one, as most full-screen programs do.
func page(lines ...string) string {
	var b strings.Builder
	b.WriteString("\x1b[H")
	for i := range 10 {
		if i > 0 {
			b.WriteString("\r\n")
		}
		if i < len(lines) {
			b.WriteString(lines[i])
		}
		b.WriteString("\x1b[K")
	}
	return b.String()
}

// numbered returns the lines with the numbers from one to another.
func numbered(from, to int) []string {
	var lines []string
	for i := from; i <= to; i++ {
		lines = append(lines, fmt.Sprintf("%s %d", []string{"apples", "pears", "plums", "figs", "nuts"}[i%5], i))
	}
	return lines
}

func TestFrames(t *testing.T) {
	t.Parallel()
	// box is what is below the text: it changes, and doesn't scroll.
	withBox := func(box string, lines ...string) string {
		return page(append(append(make([]string, 0, 10), lines[:7]...), "-----", "> "+box, "-----")...)
	}
	text := func(lines ...string) string { return strings.Join(lines, "\n") + "\n" }
	for _, tt := range []struct{ name, in, want string }{
		{"painted twice", page(numbered(1, 10)...) + page(numbered(1, 10)...), text(numbered(1, 10)...)},
		{"cleared and painted", page(numbered(1, 10)...) + "\x1b[2J" + page(numbered(1, 10)...), text(numbered(1, 10)...)},
		{"every line a bit higher", page(numbered(1, 10)...) + page(numbered(2, 11)...) + page(numbered(6, 15)...), text(numbered(1, 15)...)},
		{"one row for both", page(numbered(1, 10)...) + page(numbered(9, 18)...), text(numbered(1, 18)...)},
		{"nothing in common", page(numbered(1, 10)...) + page("quite", "another", "page"), text(append(numbered(1, 10), "quite", "another", "page")...)},
		{
			"up and down again", page(numbered(1, 10)...) + page(numbered(4, 13)...) + page(numbered(2, 11)...) + page(numbered(5, 14)...) + page(numbered(7, 16)...),
			text(numbered(1, 16)...),
		},
		{
			"another page in between", page(numbered(1, 10)...) + page(numbered(5, 14)...) + page("a menu", "of two", "lines") + page(numbered(5, 14)...) + page(numbered(6, 15)...),
			text(append(append(numbered(1, 14), "a menu", "of two", "lines", ""), numbered(15, 15)...)...),
		},
		{
			"a box below", withBox("", numbered(1, 7)...) + withBox("typed", numbered(1, 7)...) + withBox("", numbered(3, 9)...) + withBox("", numbered(8, 14)...),
			text(append(numbered(1, 14), "-----", ">", "-----")...),
		},
		{
			"a header above", page(append([]string{"title"}, numbered(1, 9)...)...) + page(append([]string{"title"}, numbered(3, 11)...)...) + page(append([]string{"title"}, numbered(6, 14)...)...),
			text(append(append(numbered(1, 5), "title"), numbered(6, 14)...)...),
		},
		{
			"a header that comes", page(numbered(1, 10)...) + page(append([]string{"title"}, numbered(4, 12)...)...),
			text(append(append(numbered(1, 3), "title"), numbered(4, 12)...)...),
		},
		{
			"a clock", page("it is 12:00:01", "all is well", "on every line") + page("it is 12:00:02", "all is well", "on every line") + page("it is 12:00:03", "all is well", "on every line"),
			text("it is 12:00:03", "all is well", "on every line"),
		},
		{"a synchronised update", "\x1b[?2026h\x1b[Hone\r\ntwo\x1b[?2026l\x1b[?2026h\x1b[2J\x1b[Hthree\r\nfour\x1b[?2026l", text("one", "two", "three", "four")},
		{"inserted lines", page(numbered(3, 12)...) + "\x1b[H\x1b[2L" + strings.Join(numbered(1, 2), "\r\n") + "\x1b[H" + page(numbered(3, 12)...), text(append(numbered(3, 12), numbered(1, 2)...)...)},
		{"deleted lines", page(numbered(1, 10)...) + "\x1b[H\x1b[2M\x1b[9;1H" + strings.Join(numbered(11, 12), "\r\n") + "\x1b[H", text(numbered(1, 12)...)},
		{"a program that comes again", page(numbered(1, 10)...) + "\x1b[?1049l\x1b[?1049h" + page(numbered(1, 10)...), text(numbered(1, 10)...)},
		{"back before it leaves", page(numbered(1, 10)...) + page(numbered(9, 18)...) + page(numbered(16, 25)...) + page(numbered(8, 17)...), text(numbered(1, 25)...)},
		{
			"back by a page, and on", pager(30, 11, "  bb   "),
			text(numbered(1, 30)...),
		},
		{"back, and away", pager(30, 11, "  b"), text(numbered(1, 30)...)},
		{"back to the start, and away", pager(30, 11, "  bb"), text(numbered(1, 30)...)},
		{
			"from the end to the start", pager(30, 11, "Gbb"),
			text(append(append(numbered(20, 30), numbered(9, 19)...), numbered(1, 8)...)...),
		},
		{
			"back, with a box below", withBox("", numbered(1, 7)...) + withBox("", numbered(5, 11)...) + withBox("", numbered(2, 8)...) + withBox("", numbered(5, 11)...) + withBox("", numbered(7, 13)...),
			text(append(numbered(1, 13), "-----", ">", "-----")...),
		},
		{
			"typed below what was seen", page(numbered(1, 10)...) + page("menu") + page(append(numbered(1, 8), "", ">")...) + page(append(numbered(1, 8), "", "> typed")...),
			text(append(append(numbered(1, 10), "menu", ""), "> typed")...),
		},
		{"blank lines", page("one") + page("one", "", "", "", "", "two"), "one\n\ntwo\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in := "\x1b[8;10;40t\x1b[?1049h" + tt.in
			if got := render(t, in); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// pager is what less sends to a screen of so many rows for lines from 1 to the last, and for its keys.
func pager(last, rows int, keys string) string {
	var b strings.Builder
	page := rows - 1
	fmt.Fprintf(&b, "\x1b[8;%d;40t\x1b[?1049h", rows)
	line := func(i int) string { return numbered(i, i)[0] + "\r\n" }
	prompt := func() { b.WriteString(":\x1b[K") }
	erase := func() { b.WriteString("\r\x1b[K") }
	bottom := 0
	forward := func() {
		erase()
		for i := 0; i < page && bottom < last; i++ {
			bottom++
			b.WriteString(line(bottom))
		}
		prompt()
	}
	if !strings.HasPrefix(keys, "G") {
		forward()
	}
	for _, key := range keys {
		switch key {
		case 'G':
			bottom = last - page
			forward()
		case ' ':
			forward()
		case 'b':
			erase()
			for i := 0; i < page && bottom > page; i++ {
				b.WriteString("\x1b[H\x1bM" + line(bottom-page))
				bottom--
			}
			fmt.Fprintf(&b, "\x1b[%d;1H\r\x1b[K", rows)
			prompt()
		}
	}
	erase()
	b.WriteString("\x1b[?1049l")
	return b.String()
}
