package vt

import (
	"io"
	"strings"
	"testing"

	"gitagent/test/gittest"
	"gitagent/test/worst"
)

// TestRenderWorst: nothing that a program sends takes the emulator long, on the largest screen.
func TestRenderWorst(t *testing.T) {
	gittest.Check(t)
	const size = 256 << 10
	render := func(text string) {
		gittest.Must(t, Render(io.Discard, strings.NewReader("\x1b[8;300;900t"+text)))
	}
	worst.Hold(t, size, []string{
		"a", "\n", "\r", "\b", "\t", "\x1b[H", "\x1b[2J", "\x1b[J", "\x1b[1J", "\x1b[K", "\x1b[999;999H", "\x1b[300;900H", "\x1b[8;300;900t", "\x1b[8;1;1t",
		"\x1b[?1049h", "\x1b[?1049l", "\x1b[?2026h", "\x1b[?2026l", "\x1b[999L", "\x1b[999M", "\x1b[999S", "\x1b[999T", "\x1b[999@", "\x1b[999P", "\x1b[999X",
		"\x1b[999b", "\x1b[999I", "\x1b[999Z", "\x1b[A", "\x1b[1;300r", "\x1b[r", "\x1b7", "\x1b8", "\x1bc", "\x1bM", "\x1b]0;", "\x1bP", "\x1b\\", "日", "\u0301", "\xff", "\x1b[", ";", "9",
	}, render)
	const part = size / 4 // what is allocated is not held: a copy of each page
	full := "\x1b[?1049h" + strings.Repeat("x\r\ny\r\n", 150)
	for name, text := range map[string]string{
		"a page that changes":   "\x1b[?1049h" + strings.Repeat("\x1b[150;1Ha\x1b[H\x1b[150;1Hb\x1b[H", part/26),
		"pages of one line":     strings.Repeat("\x1b[?1049ha\x1b[r\n\x1b[?1049hb\x1b[r\n", part/26),
		"a page that scrolls":   full + strings.Repeat("\x1b[Sx", part/4),
		"a page up and down":    full + strings.Repeat("\x1b[S\x1b[T", part/6),
		"a page that is gone":   full + strings.Repeat("\x1b[999S", part/6),
		"pages that are left":   strings.Repeat("\x1b[300;900Ha\x1b[2J", part/15),
		"a screen that changes": strings.Repeat("\x1b[2J\x1b[300;900Ha\x1b[8;1;1t\x1b[8;300;900t", part/36),
	} {
		worst.Try(t, name, func() { render(text) })
	}
}
