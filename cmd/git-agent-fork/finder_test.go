package main

import (
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
)

func TestWrap(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		text    string
		columns int
		want    string
	}{
		{"short", "one two\n\nthree", 10, "one two\n\nthree\n"},
		{"at a blank", "one two three", 8, "one two\nthree\n"},
		{"within a word", "abcdefghij", 4, "abcd\nefgh\nij\n"},
		{"wide characters", "日本語テキスト", 5, "日本\n語テ\nキス\nト\n"},
		{"right to left", "שלום עולם", 5, "שלום\nעולם\n"},
		{"a tab", "a\tb", 10, "a    b\n"},
		{"no room at all", "日本", -3, "日\n本\n"},
		{"nothing", "", 10, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := wrap(tt.text, tt.columns)
			if got != tt.want {
				t.Errorf("wrap(%q, %d) = %q, want %q", tt.text, tt.columns, got, tt.want)
			}
			for line := range strings.Lines(got) {
				if n := runewidth.StringWidth(strings.TrimSuffix(line, "\n")); n > max(tt.columns, 2) {
					t.Errorf("a line is %d columns wide: %q", n, line)
				}
			}
		})
	}
}
