package cmdline

import (
	"strings"
	"testing"
)

func TestAsk(t *testing.T) {
	t.Parallel()
	yesNo := []string{"yes", "no"}
	for _, tt := range []struct {
		typed   string
		answers []string
		want    string
		asked   int
	}{
		{"yes\n", yesNo, "yes", 1},
		{"y\n", yesNo, "yes", 1},
		{" YES \r\n", yesNo, "yes", 1},
		{"n\n", yesNo, "no", 1},
		{"\n", yesNo, "no", 1},
		{"", yesNo, "no", 1},
		{"yes", yesNo, "no", 1}, // the end of input came first
		{"yse\nyes\n", yesNo, "yes", 2},
		{"yse\n\nyes\n", yesNo, "no", 2},
		{"a\nb\nc\nyes\n", yesNo, "no", 3},
		{"all\n", []string{"all", "code", "no"}, "all", 1},
		{"a\ncode\n", []string{"all", "code", "no"}, "code", 2}, // one letter is too little to send all
		{"n\n", []string{"all", "code", "no"}, "no", 1},
		{"\x1b[2J\n", yesNo, "no", 2},
	} {
		var out strings.Builder
		if got := ask(&out, strings.NewReader(tt.typed), 80, "Go on?", tt.answers); got != tt.want {
			t.Errorf("ask(%q) = %q, want %q", tt.typed, got, tt.want)
		}
		if asked := strings.Count(out.String(), "["+strings.Join(tt.answers, "/")+"] "); asked != tt.asked {
			t.Errorf("ask(%q) asked %d times, want %d: %q", tt.typed, asked, tt.asked, out.String())
		}
		if strings.Contains(out.String(), "\x1b") {
			t.Errorf("ask(%q) prints it as it is: %q", tt.typed, out.String())
		}
	}
}

func TestHang(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		label, text string
		columns     int
		want        string
	}{
		{"", "one two three", 0, "one two three"},
		{"", "one two three", 13, "one two three"},
		{"", "one two three", 12, "one two\nthree"},
		{"", "one two three", 3, "one\ntwo\nthree"},
		{"", "/a/long/path is kept", 8, "/a/long/path\nis kept"},
		{"", "one\ntwo three", 5, "one\ntwo\nthree"},
		{"what  ", "one two three", 14, "what  one two\n      three"},
		{"what  ", "one\ntwo", 0, "what  one\n      two"},
		{"", "日本語 日本語", 8, "日本語\n日本語"},
		{"", "", 10, ""},
	} {
		if got := Indent(tt.label, tt.text, tt.columns); got != tt.want {
			t.Errorf("Hang(%q, %q, %d) = %q, want %q", tt.label, tt.text, tt.columns, got, tt.want)
		}
	}
}
