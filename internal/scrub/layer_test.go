package scrub

import (
	"strings"
	"testing"
)

// What each kind of escape stands for, and how many bytes it takes.
func TestEscapes(t *testing.T) {
	t.Parallel()
	type unit func(at []byte) ([]byte, int)
	first := func(at []byte) ([]byte, int) { return ansi(at, stringEnd)(at) }
	for _, test := range []struct {
		name     string
		of       unit
		at, want string
		size     int
	}{
		{"json", jsonEscape, `\`, "", 0},
		{"json", jsonEscape, `\"x`, `"`, 2},
		{"json", jsonEscape, `\\"`, `\`, 2},
		{"json", jsonEscape, `\/`, `/`, 2},
		{"json", jsonEscape, `\b`, "\b", 2},
		{"json", jsonEscape, `\f`, "\f", 2},
		{"json", jsonEscape, `\n`, "\n", 2},
		{"json", jsonEscape, `\r`, "\r", 2},
		{"json", jsonEscape, `\t`, "\t", 2},
		{"json", jsonEscape, `\x41`, "", 0},
		{"json", jsonEscape, `\u0041b`, "A", 6},
		{"json", jsonEscape, `\u00fC`, "ü", 6},
		{"json", jsonEscape, `\u004`, "", 0},
		{"json", jsonEscape, `\u004g`, "", 0},
		{"json", jsonEscape, `\ud83d\ude00`, "😀", 12},
		{"json", jsonEscape, `\ud83d\u0041`, "\ufffd", 6},
		{"json", jsonEscape, `\ud83d\ude0`, "\ufffd", 6},
		{"json", jsonEscape, `\ud83d\ude0x`, "\ufffd", 6},
		{"shell", shellEscape, `\`, "", 0},
		{"shell", shellEscape, `\a`, "a", 2},
		{"shell", shellEscape, `\x41b`, "A", 4},
		{"shell", shellEscape, `\x4`, "x", 2},
		{"shell", shellEscape, `\101`, "A", 4},
		{"shell", shellEscape, `\377`, "\xff", 4},
		{"shell", shellEscape, `\401`, "4", 2},
		{"shell", shellEscape, `\181`, "1", 2},
		{"shell", shellEscape, `\118`, "1", 2},
		{"shell", shellEscape, `\11`, "1", 2},
		{"shell", shellEscape, "\\\nb", "", 2},
		{"apostrophe", shellQuote, `'\''b`, "'", 4},
		{"apostrophe", shellQuote, `'"'"'b`, "'", 5},
		{"apostrophe", shellQuote, `''`, "", 0},
		{"percent", percent, "%41b", "A", 3},
		{"percent", percent, "%fF", "\xff", 3},
		{"percent", percent, "%4", "", 0},
		{"percent", percent, "%4g", "", 0},
		{"percent", percent, "%", "", 0},
		{"entity", entity, "&amp;b", "&", 5},
		{"entity", entity, "&#65;", "A", 5},
		{"entity", entity, "&#x41;", "A", 6},
		{"entity", entity, "&#0000065;", "A", 10},
		{"entity", entity, "&#000000000065;", "", 0},
		{"entity", entity, "&;", "", 0},
		{"entity", entity, "&zzz;", "", 0},
		{"entity", entity, "&amp", "", 0},
		{"terminal", first, "\x1b", "", 0},
		{"terminal", first, "\x1b[1;31mred", "", 7},
		{"terminal", first, "\x1b[1\nred", "", 2},
		{"terminal", first, "\x1b[1", "", 2},
		{"terminal", first, "\x1b]0;title\x07b", "", 10},
		{"terminal", first, "\x1b]0;title\x1b\\b", "", 11},
		{"terminal", first, "\x1bPq\x1b", "", 2},
		{"terminal", first, "\x1b]0;\nb\x07", "", 2},
		{"terminal", first, "\x1b=b", "", 2},
	} {
		got, size := test.of([]byte(test.at))
		if string(got) != test.want || size != test.size {
			t.Errorf("%s %q is %q of %d bytes, want %q of %d", test.name, test.at, got, size, test.want, test.size)
		}
	}
}

// However many strings begin in a text, it is looked through for their ends once.
func TestStringsWorst(t *testing.T) {
	t.Parallel()
	for _, piece := range []string{"\x1b]", "\x1bP", "\x1b_a", "\x1b]\n", "\x1b^\x07", "\x1bX\x1b\\"} {
		text, looked := []byte(strings.Repeat(piece, 10_000)), 0
		units(0x1b, ansi(text, func(at []byte) int {
			end := stringEnd(at)
			looked += end
			return end
		}))(text)
		if looked > len(text) {
			t.Errorf("of %d bytes with %q again and again %d were looked at", len(text), piece, looked)
		}
	}
}

// What a terminal shows of sequences one after the other, which may end within another.
func TestShown(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a\x1b]0;b\x07c\x1b]0;d\x1b\\e":     "ace",
		"a\x1b]b\x1b]c\x1b]d\x07e":          "ae",
		"a\x1b]b\n\x1b]c\x07d\x1b]e":        "ab\nde",
		"a\x1b]b\x1bPc\nd\x1b_e\x07f":       "abc\ndf",
		"a\x1bP\x1b\x1b]b\x1b\x1b\\c\x1b]d": "acd",
		"\x1b]\x1b]\x1b]":                   "",
	} {
		v, ok := shown([]byte(text))
		if !ok || string(v.text) != want {
			t.Errorf("%q is shown as %q, %v; want %q", text, v.text, ok, want)
		}
	}
}
