package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/mattn/go-runewidth"

	"gitagent/internal/cmdline"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/record"
	"gitagent/test/gittest"
	"gitagent/turns"
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
				if n := cmdline.Width(strings.TrimSuffix(line, "\n")); n > max(tt.columns, 2) {
					t.Errorf("a line is %d columns wide: %q", n, line)
				}
			}
		})
	}
}

// TestLocale: in a Chinese, Japanese or Korean locale the library that measures text has two columns for
// "…" and "é". Not parallel, as that is the library's variable.
func TestLocale(t *testing.T) {
	defer func(was bool) { runewidth.DefaultCondition.EastAsianWidth = was }(runewidth.DefaultCondition.EastAsianWidth)
	turn := &turns.Turn{Mission: "a1b2c3d4", Turn: 3, Prompt: strings.Repeat("é", 100), Outcome: record.Done, At: time.Now()}
	var lines [2][]string
	for i := range lines {
		runewidth.DefaultCondition.EastAsianWidth = i == 1
		for columns := range 80 { // it panicked
			lines[i] = append(lines[i], line(turn, turn.At, false, columns), wrap("aé éa éé", columns))
		}
	}
	if !slices.Equal(lines[0], lines[1]) {
		t.Errorf("got  %q\nwant %q", lines[1], lines[0])
	}
}

func TestWrapRows(t *testing.T) {
	t.Parallel()
	got := wrapRows([]row{{cmdline.Bold, "one two"}, {}, painted("\x1b[31m-old line\x1b[m"), painted("plain"), painted("a\\x1b[m")}, 5)
	want := []row{
		{cmdline.Bold, "one"},
		{cmdline.Bold, "two"},
		{},
		{cmdline.Red, "-old"},
		{cmdline.Red, "line"},
		{text: "plain"},
		{text: "a\\x1b"},
		{text: "[m"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// A turn looks the same in the preview and on its page: the whole prompt, the reply, what changed, and
// nothing that a terminal would obey. Of a large diff there is the beginning.
func TestDescribe(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Write("a", "one\n")
	base := r.Commit("one")
	r.Write("a", "two \x1b[31mred\n"+strings.Repeat("a line of the file\n", 10_000))
	code := r.Commit("two")
	repo, err := git.Find(r.Dir)
	gittest.Must(t, err)
	f := newFinder(repo, "show", false)
	f.colour = true
	rows := f.describe(t.Context(), &turns.Turn{
		Mission: "a1b2c3d4", Turn: 3, Outcome: record.Done, Prompt: "Do\x1b]0;x\x07 it.\n\nAll of it.", Reply: "Done.",
		Base: object.NewHash(base), Code: object.NewHash(code),
		Files: 1, Insertions: 10_001, Deletions: 1, Paths: []string{"a\nb"}, Tools: map[string]int{"Bash": 2},
	})
	for _, want := range []row{
		{cmdline.Bold, "turn a1b2c3d4/3"},
		{cmdline.Bold, "Prompt"},
		{text: `Do\x1b]0;x\x07 it.`},
		{text: "All of it."},
		{text: "Done."},
		{text: "Bash 2"},
		{cmdline.Bold, "1 file, +10001 -1"},
		{text: "a b"},
		{cmdline.Bold, "diff --git a/a b/a"},
		{cmdline.Red, "-one"},
		{cmdline.Green, `+two \x1b[31mred`},
		{cmdline.Dim, "..."},
	} {
		if !slices.Contains(rows, want) {
			t.Errorf("there is no %q in\n%q", want, rows[:min(40, len(rows))])
		}
	}
	if len(rows) > 5000 {
		t.Errorf("there are %d rows", len(rows))
	}
}

func TestScroll(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		key  tcell.Key
		char rune
		want int
	}{
		{tcell.KeyDown, 0, 51},
		{tcell.KeyRune, 'k', 49},
		{tcell.KeyRune, ' ', 70},
		{tcell.KeyPgUp, 0, 30},
		{tcell.KeyHome, 0, 0},
		{tcell.KeyRune, 'G', 100},
		{tcell.KeyRune, 'x', 50},
	} {
		if got := scroll(50, 20, 100, tcell.NewEventKey(tt.key, tt.char, tcell.ModNone)); got != tt.want {
			t.Errorf("key %v %q: %d, want %d", tt.key, tt.char, got, tt.want)
		}
	}
}
