package vt

import (
	"strings"
	"testing"
)

// emojis is made up of several runes each. A bar in the third column shows how wide they are.
var emojis = []struct {
	text      string
	old, wide int // columns, before tmux 3.6 and from then on
}{
	{"\u2764\ufe0f", 1, 2}, // the heart, colourful
	{"\u263a\ufe0e", 1, 1}, // the face, in black
	{"1\ufe0f\u20e3", 1, 2},
	{"\U0001f1e9\U0001f1ea", 2, 2},                       // a flag
	{"\U0001f469\u200d\U0001f469\u200d\U0001f467", 2, 2}, // a family
	{"\U0001f3f3\ufe0f\u200d\U0001f308", 1, 2},           // the rainbow's flag
	{"\U0001f44d\U0001f3fd", 4, 2},                       // a thumb with the colour of skin
	{"\u231a\ufe0f", 2, 2},
}

// joined has each emoji in a row, with a bar behind it and one in the sixth column.
var joined = func() string {
	var b strings.Builder
	for _, e := range emojis {
		b.WriteString(e.text + "|\x1b[6G|\r\n")
	}
	return b.String()
}()

func TestClusters(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, begin string
		wide        bool
	}{{"before 3.6", "\x1b[8;12;40t\x1b[H", false}, {"from 3.6 on", "\x1b[8;12;40t\x1b[?2027h\x1b[H", true}} {
		var want strings.Builder
		for _, e := range emojis {
			columns := e.old
			if tt.wide {
				columns = e.wide
			}
			want.WriteString(e.text + "|" + strings.Repeat(" ", 4-columns) + "|\n")
		}
		if got := render(t, tt.begin+joined); got != want.String() {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.name, got, want.String())
		}
	}
}

func TestCaptured(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, in, stops, want string }{
		{"attributes", "\x1b[1m\x1b[31mred\x1b[0m\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n\n", "8,16", "redlink\n"},
		{"blank lines", "\n\none\n\ntwo\n\n\n", "8,16", "\n\none\n\ntwo\n"},
		{"tabs", "a\tb\n12345678\tc\n", "8,16", "a       b\n12345678        c\n"},
		{"other tab stops", "a\tb\tc\n", "4,6", "a   b c\n"},
		{"no tab stop", "a\tb\n", "", "a" + strings.Repeat(" ", 18) + "b\n"},
		{"tabs behind wide characters", "\u65e5\tb\n\u2764\ufe0f\tb\n", "4", "\u65e5  b\n\u2764\ufe0f  b\n"},
		{"drawn lines", "\x0elqqk\x0f x\n\x0ex\x0f lx\n", "8", "┌──┐ x\n│ lx\n"},
		{"drawn lines to the end", "\x0elqqk\nx\n\x0fx\n", "8", "┌──┐\n│\nx\n"}, // as 3.3a has them
		{"as wide as the pane", strings.Repeat("x", 20) + "\nnext\n", "8", strings.Repeat("x", 20) + "\nnext\n"},
		{"more than a page", strings.Repeat("line\n", 100), "8", strings.Repeat("line\n", 100)},
	} {
		if got := string(Captured([]byte(tt.in), 20, tt.stops)); got != tt.want {
			t.Errorf("%s: Captured(%q)\ngot  %q\nwant %q", tt.name, tt.in, got, tt.want)
		}
	}
}
