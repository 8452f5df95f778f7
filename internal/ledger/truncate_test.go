package ledger

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestHeadAndTail(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		s          string
		n          int
		head, tail string
	}{
		{"", 3, "", ""},
		{"abc", 3, "abc", "abc"},
		{"abcd", 3, "ab…", "…cd"},
		{"äöüß", 3, "äö…", "…üß"},
		{"äöü", 3, "äöü", "äöü"},
		{"日本語日本語", 4, "日本語…", "…日本語"},
		{strings.Repeat("x", 100), 5, "xxxx…", "…xxxx"},
		{strings.Repeat("😀", 100), 5, "😀😀😀😀…", "…😀😀😀😀"},
	} {
		if got := Head(tt.s, tt.n); got != tt.head {
			t.Errorf("Head(%q, %d) = %q, want %q", tt.s, tt.n, got, tt.head)
		}
		if got := Tail(tt.s, tt.n); got != tt.tail {
			t.Errorf("Tail(%q, %d) = %q, want %q", tt.s, tt.n, got, tt.tail)
		}
	}
	// Cutting in the middle of a rune creates no other rune.
	for n := 1; n < 12; n++ {
		s := strings.Repeat("é日😀a", 9)
		if got := Tail(s, n); !utf8.ValidString(got) || utf8.RuneCountInString(got) != n {
			t.Errorf("Tail(%q, %d) = %q", s, n, got)
		}
	}
}
