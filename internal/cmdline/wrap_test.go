package cmdline

import (
	"slices"
	"strings"
	"testing"
)

func TestWrap(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"fits":              {"one two  three", []string{"one two  three"}},
		"words":             {"one two three four five six", []string{"one two three four", "five six"}},
		"paragraphs":        {"one\n\ntwo\n", []string{"one", "", "two"}},
		"a long word":       {"see https://example.invalid/a/long/path now please", []string{"see", "https://example.invalid/a/long/path", "now please"}},
		"an item":           {"- one two three four five six", []string{"- one two three four", "  five six"}},
		"a numbered item":   {"  12. one two three four five", []string{"  12. one two three", "      four five"}},
		"fenced code":       {"```go\nif a == b { return errors.New(c) }\n```\none two three four five", []string{"```go", "if a == b { return errors.New(c) }", "```", "one two three four", "five"}},
		"a fence in code":   {"~~~~\n~~~ one two three four five six\n~~~~", []string{"~~~~", "~~~ one two three four five six", "~~~~"}},
		"no fence":          {"```one``` two three four five", []string{"```one``` two three", "four five"}},
		"indented code":     {"    one two three four five six", []string{"    one two three four five six"}},
		"a table":           {"| one | two | three | four |", []string{"| one | two | three | four |"}},
		"wide characters":   {"这是一个没有空格的很长的句子 ok", []string{"这是一个没有空格的很", "长的句子 ok"}},
		"a deep item":       {strings.Repeat(" ", 30) + "- a b c d", []string{strings.Repeat(" ", 30) + "- a", "          b c d"}},
		"nothing":           {"", nil},
		"a fence to no end": {"```\none two three four five six", []string{"```", "one two three four five six"}},
	} {
		if got := slices.Collect(Wrap(tt.text, 20)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
		if got := strings.Join(slices.Collect(Wrap(tt.text, 0)), "\n"); got != strings.TrimRight(tt.text, "\n") {
			t.Errorf("%s: with no columns %q", name, got)
		}
		for range Wrap(tt.text, 20) {
			break
		}
	}
}

func FuzzWrap(f *testing.F) {
	f.Add("- one two\n```\ncode\n", 10)
	f.Add("   这是一个没有空格的很长的句子", 3)
	f.Fuzz(func(t *testing.T, text string, columns int) {
		text = EscapeLines(text)
		strip := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if got := strings.Join(slices.Collect(Wrap(text, columns)), "\n"); strip(got) != strip(text) {
			t.Errorf("%q became %q", text, got)
		}
	})
}
