package transcript

import (
	"strings"
	"testing"
)

func TestPlain(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxString)
	for _, tt := range []struct{ in, want string }{
		{"", ""},
		{"text", "text"},
		{" 1%\r 50%\r100%", "100%"},

		{"\x1b[1;31mred\x1b[m", "red"},
		{"\x1b[?25lx\x1b[?25h", "x"},
		{"\x1b[38:2::1:2:3mx", "x"},
		{"\x1b[4 qx\x1b[!px", "xx"}, // with intermediate bytes
		{"\x1b[3~x\x1b[1@x", "xx"},  // final bytes that are no letters
		{"\x1b[", "\x1b["},
		{"\x1b[31", "\x1b[31"},
		{"\x1b[ 31m", "\x1b[ 31m"}, // parameters after an intermediate byte
		{"\x1b[не m", "\x1b[не m"},
		{"\x1b[31不m", "\x1b[31不m"},
		{"\x1b[1\x1b[mx", "\x1b[1x"},
		{"\x1b[1\tmx", "\x1b[1\tmx"},
		{"\x1b[\x7fx", "\x1b[\x7fx"},

		{"\x1b]0;title\ax", "x"},
		{"\x1b]0;заголовок\ax", "x"},
		{"\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\", "link"},
		{"\x1b]0;title", "\x1b]0;title"},
		{"\x1b]0;a\tb\ax", "\x1b]0;a\tb\ax"},
		{"\x1b]0;a\u009cb\ax", "\x1b]0;a\u009cb\ax"}, // which ends it for some terminals
		{"\x1b]0;a\x1b[mb\ax", "\x1b]0;ab\ax"},
		{"\x1b]" + long + "\ax", "x"},
		{"\x1b]" + long + "x\a", "\x1b]" + long + "x\a"},

		{"\x1b(Bx\x1b7y\x1b8\x1b=", "xy"},
		{"\x1b(яx", "\x1b(яx"},
		{"\x1b(", "\x1b("},
		{"\x1bcx", "\x1bcx"},
		{"\x1bP1$r\x1b\\", "\x1bP1$r\x1b\\"},
		{"\x1b\x1b[mx\x1b", "\x1bx\x1b"},
		{"\u009b31mx", "\u009b31mx"},
	} {
		if got := stripANSI(tt.in); got != tt.want {
			t.Errorf("plain(%.99q) = %.99q, want %.99q", tt.in, got, tt.want)
		}
	}
}
