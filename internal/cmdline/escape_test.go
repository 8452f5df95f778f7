package cmdline

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestEscape(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{"plain ASCII, with \\ and %s", "plain ASCII, with \\ and %s"},
		{"héllo wörld — 日本語 עברית ไทย", "héllo wörld — 日本語 עברית ไทย"},
		{"no-break\u00a0and\u3000ideographic spaces", "no-break\u00a0and\u3000ideographic spaces"},
		{"\U0001f468\u200d\U0001f469\u200d\U0001f467 family", "\U0001f468\u200d\U0001f469\u200d\U0001f467 family"},
		{"می\u200cخواهم", "می\u200cخواهم"},
		{"\u0600 and \u06dd", "\u0600 and \u06dd"}, // Arabic signs, of Cf but visible
		{"e\u0301", "e\u0301"},
		{"\ue0b0 private use", "\ue0b0 private use"},
		{"one\ntwo\ttabs\r", `one\ntwo\ttabs\r`},
		{"\x1b[31mred\x1b[m", `\x1b[31mred\x1b[m`},
		{"\x1b]0;title\a", `\x1b]0;title\x07`},
		{"nul\x00 del\x7f backspace\b", `nul\x00 del\x7f backspace\x08`},
		{"C1 \u0080 \u009b31m \u0085", `C1 \u0080 \u009b31m \u0085`},
		{"C1 byte \x9b31m", `C1 byte \x9b31m`},
		{"half \xe2\x82", `half \xe2\x82`},
		{"overlong \xc0\x9b", `overlong \xc0\x9b`},
		{"surrogate \xed\xa0\x80", `surrogate \xed\xa0\x80`},
		{"replacement \ufffd stays", "replacement \ufffd stays"},
		{"override \u202egpj.exe\u202c", `override \u202egpj.exe\u202c`},
		{"isolate \u2066x\u2069 mark \u200e\u200f", `isolate \u2066x\u2069 mark \u200e\u200f`},
		{"lines \u2028 \u2029", `lines \u2028 \u2029`},
		{"hidden \u200b\ufeff\u00ad\u2060", `hidden \u200b\ufeff\u00ad\u2060`},
		{"tag \U000e0041", `tag \U000e0041`},
	} {
		if got := Escape(tt.text); got != tt.want {
			t.Errorf("Escape(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestEscapeLines(t *testing.T) {
	t.Parallel()
	const text = "a\r\nb\n\tc\rd\x1b\u2028"
	if got, want := EscapeLines(text), "a\nb\n\tc\\rd\\x1b\\u2028"; got != want {
		t.Errorf("EscapeLines(%q) = %q, want %q", text, got, want)
	}
}

func TestOneLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"  fix\n\n\tthe login\u2028 \x1b[m ": `fix the login \x1b[m`,
		"":                                   "",
		" \r\n ":                             "",
		" as it is ":                         "as it is",
		"one\ntwo\n\vthree ":                 "one two three",
		"two  spaces":                        "two spaces",
		"beyond \x7f eight \x80":             `beyond \x7f eight \x80`,
		"1234567\x1f":                        `1234567\x1f`,
		"1234567\x7f\x7f":                    `1234567\x7f\x7f`,
		"1234567é":                           "1234567é",
	} {
		if got := OneLine(text); got != want {
			t.Errorf("OneLine(%q) = %q, want %q", text, got, want)
		}
	}
}

// FuzzEscape checks that no text that a terminal obeys gets through, that escaping twice is the
// same as once, and that safe text stays unchanged.
func FuzzEscape(f *testing.F) {
	for _, seed := range []string{"plain", "\x1b[31m", "\u009b", "\x9b", "日本\u202e", "\xff\xfe", "\U000e0041"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := Escape(text)
		if !utf8.ValidString(got) {
			t.Fatalf("Escape(%q) = %q is not UTF-8", text, got)
		}
		for i, r := range got {
			if r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x2028 || r == 0x2029 {
				t.Fatalf("Escape(%q) = %q has %U at %d", text, got, r, i)
			}
		}
		if again := Escape(got); again != got {
			t.Fatalf("Escape(Escape(%q)) = %q, want %q", text, again, got)
		}
		if got, want := OneLine(text), Escape(strings.Join(strings.Fields(text), " ")); got != want {
			t.Fatalf("OneLine(%q) = %q, want %q", text, got, want)
		}
		lines := EscapeLines(text)
		if want := strings.Count(strings.ReplaceAll(text, "\r\n", "\n"), "\n"); strings.Count(lines, "\n") != want {
			t.Fatalf("EscapeLines(%q) = %q has not %d line feeds", text, lines, want)
		}
	})
}

func BenchmarkEscape(b *testing.B) {
	text := strings.Repeat("The quick brown fox, größer als 日本. ", 100)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Escape(text)
	}
}
