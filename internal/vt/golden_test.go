package vt

import (
	"strings"
	"testing"
)

// A sample is what a program sends to a screen of 10 rows and 40 columns, and the expected text.
type sample struct {
	name string
	in   string
	want string
	ours bool // we differ from tmux on purpose
}

func golden() []sample {
	return []sample{
		{name: "nothing"},
		{name: "lines", in: "one\r\ntwo\r\n", want: "one\ntwo\n"},
		{name: "no line feed at the end", in: "one", want: "one\n"},
		{name: "blank lines between", in: "one\r\n\r\n\r\ntwo", want: "one\n\n\ntwo\n"},
		{name: "more lines than rows", in: strings.Repeat("a\r\nb\r\nc\r\n", 5), want: strings.Repeat("a\nb\nc\n", 5)},
		{name: "line feed alone", in: "one\ntwo", want: "one\n   two\n"},
		{name: "progress bar", in: "  1%\r 50%\r100%\r\ndone", want: "100%\ndone\n"},
		{name: "shorter over longer", in: "loading\rok", want: "okading\n"},
		{name: "shorter over longer, erased", in: "loading\r\x1b[Kok", want: "ok\n"},
		{name: "backspace", in: "abc\b\bX", want: "aXc\n"},
		{name: "tabs", in: "a\tb\r\n12345678\tc", want: "a       b\n12345678        c\n"},
		{name: "tab stops", in: "\x1b[3g\x1b[5G\x1bH\rx\ty\r\n\tz", want: "x   y\n    z\n"},
		{name: "back tab", in: "a\tb\x1b[Zc", want: "a       c\n"},
		{name: "colours", in: "\x1b[1;38;2;1;2;3mred\x1b[0m and \x1b[4:3mnot", want: "red and not\n"},
		{name: "titles", in: "\x1b]0;a title\x07one\x1b]2;\x1b]8;;http://x\x1b\\two\x1bktitle\x1b\\three", want: "onetwothree\n"},
		{name: "other strings", in: "a\x1bP+q544e\x1b\\b\x1b_G;AAAA\x1b\\c\x1b^x\x1b\\d\x1bXy\x1b\\e", want: "abcde\n"},
		{name: "a bell does not end them", in: "a\x1bPx\x07y\x1b\\b", want: "ab\n"},
		{name: "aborted sequences", in: "a\x1b[12\x18b\x1b]0;t\x18c\x1b[1\x1b[2Cd", want: "abc  d\n"},
		{name: "control in the middle of a sequence", in: "ab\x1b[\r1Cc", want: "ac\n"},
		{name: "sequences of which nobody has heard", in: "a\x1b[1;2;3~b\x1b[>4;2mc\x1b[?9999hd\x1b[ qe\x1b[1y\x1b%Gf", want: "abcdef\n"},
		{name: "too many parameters", in: "a\x1b[" + strings.Repeat("1;", 1000) + "Hb", want: "ab\n", ours: true},
		{name: "enormous parameter", in: "a\x1b[99999999999999999999Cb", want: "a" + strings.Repeat(" ", 38) + "b\n", ours: true},
		{name: "wide", in: "日本\r\n語", want: "日本\n語\n"},
		{name: "half of a wide one overwritten", in: "日本\x1b[2GX\x1b[3GY", want: " XY\n", ours: true},
		{name: "wide one at the edge", in: strings.Repeat("a", 39) + "日", want: strings.Repeat("a", 39) + "日\n"},
		{name: "combining", in: "e\u0301a\u0308\u0323!", want: "e\u0301a\u0308\u0323!\n"},
		{name: "combining with nothing", in: "\u0301a", want: "a\n"},
		{name: "emoji", in: "a\U0001f600b", want: "a\U0001f600b\n"},
		{name: "invalid UTF-8", in: "a\xffb\xe6\x97c\xc3", want: "a\ufffdb\ufffd\ufffdc\ufffd\n", ours: true},
		{name: "C1 and formatting characters", in: "a\u009b1mb\u202ec\u2028d\ufeffe", want: "a1mbcde\n", ours: true},
		{name: "a wrapped line is one line", in: strings.Repeat("0123456789", 9), want: strings.Repeat("0123456789", 9) + "\n"},
		{name: "as long as the row", in: strings.Repeat("x", 40) + "\r\nnext", want: strings.Repeat("x", 40) + "\nnext\n"},
		{name: "moved away from what it went on with", in: strings.Repeat("y", 50) + "\x1b[L", want: strings.Repeat("y", 40) + "\n\n" + strings.Repeat("y", 10) + "\n"},
		{name: "erased behind what it went on with", in: strings.Repeat("y", 50) + "\x1b[2Kz", want: strings.Repeat("y", 40) + "\n          z\n"},
		{name: "no wrap", in: "\x1b[?7l" + strings.Repeat("x", 50) + "y", want: strings.Repeat("x", 39) + "y\n"},
		{name: "wrapped and scrolled off", in: strings.Repeat("y", 50) + strings.Repeat("\r\n", 12) + "end", want: strings.Repeat("y", 50) + strings.Repeat("\n", 12) + "end\n"},
		{name: "cursor", in: "\x1b[3;5Hx\x1b[Ay\x1b[2Bz\x1b[2DX\x1b[CY\x1b[1;2Hfirst", want: " first\n     y\n    x\n     XzY\n"},
		{name: "next and previous line", in: "ab\x1b[Ec\x1b[2Ed\x1b[3Fe", want: "eb\nc\n\nd\n"},
		{name: "rows and columns", in: "\x1b[4dx\x1b[2dy\x1b[9Gz", want: "\n y      z\n\nx\n"},
		{name: "saved cursor", in: "ab\x1b7cd\x1b8X\x1b[sY\x1b[5;5H\x1b[uZ", want: "abXZ\n"},
		{name: "erase in the line", in: "abcdef\x1b[3D\x1b[K|\r\nabcdef\x1b[3D\x1b[1K\r\nabc\x1b[2Kd", want: "abc|\n    ef\n   d\n"},
		{name: "erase below", in: "a\r\nb\r\nc\x1b[2;1H\x1b[J", want: "a\n"},
		{name: "erase above", in: "a\r\nb\r\ncd\x1b[3;1H\x1b[1J", want: "\n\n d\n"},
		{name: "a cleared screen has been seen", in: "a\r\nb\x1b[2J\x1b[Hc", want: "a\nb\nc\n"},
		{name: "cleared by erasing below", in: "a\r\nb\x1b[H\x1b[Jc", want: "a\nb\nc\n"},
		{name: "reset", in: "a\r\n\x1b[4;6r\x1bcb", want: "a\nb\n", ours: true},
		{name: "insert and delete characters", in: "abcdef\r\x1b[2@XY\x1b[2C\x1b[2P", want: "XYabef\n"},
		{name: "erase characters", in: "abcdef\r\x1b[3X", want: "   def\n"},
		{name: "insert mode", in: "def\r\x1b[4habc\x1b[4l!", want: "abc!ef\n"},
		{name: "repeat", in: "ab\x1b[3b", want: "abbbb\n"},
		{name: "insert lines", in: "a\r\nb\r\nc\x1b[2;1H\x1b[2LX", want: "a\nX\n\nb\nc\n"},
		{name: "delete lines", in: "a\r\nb\r\nc\r\nd\x1b[2;1H\x1b[2M", want: "a\nd\n"},
		{name: "scroll up", in: "a\r\nb\r\nc\x1b[2S", want: "a\nb\nc\n"},
		{name: "scroll down", in: "a\r\nb\x1b[2T", want: "\n\na\nb\n"},
		{name: "reverse index", in: "a\r\nb\x1b[H\x1bMc", want: "c\na\nb\n"},
		{name: "index and next line", in: "a\x1bDb\x1bEc", want: "a\n b\nc\n"},
		{name: "lines that scroll at the top", in: "1\r\n2\r\n3\r\n4\x1b[1;3r\x1b[3;1H\r\n5\r\n6", want: "1\n2\n3\n5\n6\n4\n"},
		{name: "lines that scroll below a header", in: "head\x1b[2;3r\x1b[2;1Ha\r\nb\r\nc\r\nd", want: "a\nb\nhead\nc\nd\n"},
		{name: "origin", in: "\x1b[3;5r\x1b[?6h\x1b[1;1Hx\x1b[9;1Hy\x1b[?6l\x1b[1;1Hz", want: "z\n\nx\n\ny\n"},
		{name: "soft reset", in: "\x1b[3;5r\x1b[?6h\x1b[!p\x1b[1;1Hx", want: "x\n", ours: true},
		{name: "lines and corners", in: "\x1b(0lqk\x1b(B x\x0e\x1b)0mqj\x0f", want: "┌─┐ x└─┘\n", ours: true},
		{name: "alternate screen", in: "before\r\n\x1b[?1049h\x1b[Hfull\r\nscreen\x1b[?1049lafter", want: "before\nfull\nscreen\nafter\n", ours: true},
		{name: "alternate screen at the end", in: "before\r\n\x1b[?1049h\x1b[Hfull", want: "before\nfull\n", ours: true},
		{name: "scrolled on the alternate screen", in: "\x1b[?1049h\x1b[H" + strings.Repeat("x\r\ny\r\n", 8) + "end", want: strings.Repeat("x\ny\n", 8) + "end\n", ours: true},
	}
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for _, tt := range golden() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in := "\x1b[8;10;40t" + tt.in
			if got := render(t, in); got != tt.want {
				t.Errorf("Render(%q)\ngot  %q\nwant %q", tt.in, got, tt.want)
			}
			if got := renderBytes(t, in); got != tt.want {
				t.Errorf("Render(%q) byte by byte\ngot  %q\nwant %q", tt.in, got, tt.want)
			}
		})
	}
}
