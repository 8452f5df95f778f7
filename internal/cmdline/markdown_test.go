package cmdline

import (
	"regexp"
	"strings"
	"testing"
)

func TestMarkdown(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{"Fix the login form, please (see README.md).", "Fix the login form, please (see README.md)."},
		{"Fixes #12, closes me/repo#3 and GH-4", "Fixes ＃12, closes me/repo＃3 and GH\u20114"},
		{"thanks @somebody and a@example.invalid", "thanks ＠somebody and a＠example.invalid"},
		{"fixes https://example.invalid/issues/12", `fixes https：//example.invalid/issues/12`},
		{"see www.example.invalid: it", `see www\.example.invalid: it`},
		{"<img src=x> & `code` **bold** _it_ ~~no~~ a|b", "\\<img src=x\\> \\& \\`code\\` \\*\\*bold\\*\\* \\_it\\_ \\~\\~no\\~\\~ a\\|b"},
		{"[a](javascript:b) ![c](d) $e$", `\[a\](javascript\:b) \!\[c\](d) \$e\$`},
		{"# heading", `\# heading`},
		{"- item", `\- item`},
		{"+ item", `\+ item`},
		{"12. item", `12\. item`},
		{"1) item", `1\) item`},
		{"=== 2026-01-02", `\=== 2026-01-02`},
		{"> quote", `\> quote`},
		{`a\b`, `a\\b`},
		{"[skip ci]", `\[skip ci\]`},
		{"two\nlines\tof\r\ntext", "two lines of text"},
		{"\x1b[31mred \u202eright", `\\x1b\[31mred \\u202eright`},
		{"C# and a # b and @ 3", `C\# and a \# b and \@ 3`},
	} {
		if got := Markdown(tt.text); got != tt.want {
			t.Errorf("Markdown(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}

// FuzzMarkdown: whatever a text holds, it is one line without what a terminal or a forge would obey.
func FuzzMarkdown(f *testing.F) {
	f.Add("Fixes #12, @somebody <b> `a` | https://example.invalid GH-12")
	f.Add("\x1b[31m\u202e\xff1. - #")
	acts := regexp.MustCompile(`@[\pL\p{Nd}_]|#[\pL\p{Nd}_]|\pL-\p{Nd}|[a-z]://|www\.`)
	f.Fuzz(func(t *testing.T, text string) {
		got := Markdown(text)
		if got != Escape(got) || strings.ContainsAny(got, "\n\r\t") {
			t.Errorf("Markdown(%q) = %q has what a terminal obeys", text, got)
		}
		if found := acts.FindString(got); found != "" {
			t.Errorf("Markdown(%q) = %q has %q", text, got, found)
		}
		for i := 0; i < len(got); i++ {
			if got[i] == '\\' {
				i++
				if i == len(got) || !strings.ContainsRune("\\`*_[]<>|~&$%!{}@#:.-+=)", rune(got[i])) {
					t.Fatalf("Markdown(%q) = %q has a backslash before nothing", text, got)
				}
			} else if strings.IndexByte("\\`*_[]<>|~&", got[i]) >= 0 {
				t.Fatalf("Markdown(%q) = %q has an active %q", text, got, got[i])
			}
		}
	})
}
