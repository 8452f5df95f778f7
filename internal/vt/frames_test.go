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
		{"inserted lines", page(numbered(3, 12)...) + "\x1b[H\x1b[2L" + strings.Join(numbered(1, 2), "\r\n") + "\x1b[H" + page(numbered(3, 12)...), text(numbered(3, 12)...)},
		{"deleted lines", page(numbered(1, 10)...) + "\x1b[H\x1b[2M\x1b[9;1H" + strings.Join(numbered(11, 12), "\r\n") + "\x1b[H", text(numbered(1, 12)...)},
		{"a program that comes again", page(numbered(1, 10)...) + "\x1b[?1049l\x1b[?1049h" + page(numbered(1, 10)...), text(numbered(1, 10)...)},
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
