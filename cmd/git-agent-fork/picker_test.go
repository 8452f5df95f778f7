package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"gitagent/internal/git"
	"gitagent/internal/record"
	"gitagent/test/gittest"
	"gitagent/turns"
)

// pickerOf is a picker on a screen of that size, among turns with these prompts, the newest first.
func pickerOf(t *testing.T, columns, rows int, prompts ...string) (*picker, tcell.SimulationScreen) {
	t.Helper()
	screen := tcell.NewSimulationScreen("UTF-8")
	gittest.Must(t, screen.Init())
	t.Cleanup(screen.Fini)
	screen.SetSize(columns, rows)
	repo, err := git.Find(gittest.New(t).Dir)
	gittest.Must(t, err)
	f := newFinder(repo, "fork", false)
	f.columns = columns
	for i, prompt := range prompts {
		turn := &turns.Turn{Mission: "a1b2c3d4", Turn: len(prompts) - i, Outcome: record.Done, Prompt: prompt, Reply: fmt.Sprintf("Reply %d.", len(prompts)-i), At: f.now.Add(-time.Minute)}
		f.turns, f.lines = append(f.turns, turn), append(f.lines, f.line(turn))
	}
	return &picker{f: f, screen: screen, label: "Enter: look at it"}, screen
}

// shown is what a screen shows.
func shown(screen tcell.SimulationScreen) string {
	columns, rows := screen.Size()
	var b strings.Builder
	for y := range rows {
		var line strings.Builder
		for x := 0; x < columns; {
			text, _, width := screen.Get(x, y)
			line.WriteString(text)
			x += width
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}

// keys are those of the picker's tests: a letter is typed, what is in <> is pressed.
func keys(text string) (events []*tcell.EventKey) {
	named := map[string]tcell.Key{
		"Enter": tcell.KeyEnter, "Esc": tcell.KeyEsc, "Up": tcell.KeyUp, "Down": tcell.KeyDown, "PgUp": tcell.KeyPgUp, "PgDn": tcell.KeyPgDn, "Tab": tcell.KeyTab,
		"BS": tcell.KeyBackspace2, "Del": tcell.KeyDelete, "Left": tcell.KeyLeft, "Right": tcell.KeyRight, "Home": tcell.KeyHome, "End": tcell.KeyEnd,
		"C-u": tcell.KeyCtrlU, "C-w": tcell.KeyCtrlW,
	}
	for text != "" {
		if rest, ok := strings.CutPrefix(text, "<"); ok {
			name, after, _ := strings.Cut(rest, ">")
			events, text = append(events, tcell.NewEventKey(named[name], 0, tcell.ModNone)), after
			continue
		}
		r := []rune(text)[0]
		events, text = append(events, tcell.NewEventKey(tcell.KeyRune, r, tcell.ModNone)), text[len(string(r)):]
	}
	return events
}

// The first of equal turns is the newest, whether anything is typed or not, and nothing else is picked than what the
// list would show.
func TestPicker(t *testing.T) {
	t.Parallel()
	same := slices.Repeat([]string{"the same prompt"}, 30)
	words := []string{"zebra crossing", "a zebra", "an ape", "日本語のテキスト", "ape and zebra"}
	for _, tt := range []struct {
		name    string
		prompts []string
		keys    string
		want    []int // of the prompts; nil for errNone
	}{
		{"the newest", same, "<Enter>", []int{0}},
		{"the newest of equal ones", same, "s<Enter>", []int{0}},
		{"the newest when nothing is typed again", same, "s<BS><Enter>", []int{0}},
		{"the one before", same, "<Up><Enter>", []int{1}},
		{"the one before, of equal ones", same, "the<Up><Enter>", []int{1}},
		{"moved, then typed", same, "<Up><Up>s<Enter>", []int{0}},
		{"up and down", same, "<Up><Up><Up><Down><Enter>", []int{2}},
		{"no further than the newest", same, "<Down><Down><Enter>", []int{0}},
		{"no further than the oldest", same, strings.Repeat("<Up>", 40) + "<Enter>", []int{29}},
		{"pages", same, "<PgUp><PgUp><PgDn><Enter>", []int{7}},
		{"a word", words, "ape<Enter>", []int{2}},
		{"another script", words, "テキ<Enter>", []int{3}},
		{"capital letters", words, "APE<Enter>", nil},
		{"corrected", words, "xape<Home><Del><Enter>", []int{2}},
		{"corrected in the middle", words, "axpe<Left><Left><BS><Enter>", []int{2}},
		{"a word away", words, "zebra ape<C-w><C-w>日<Enter>", []int{3}},
		{"all away", words, "nothing<C-u><Enter>", []int{0}},
		{"nothing to erase", words, "<BS><Del><Left><Right><C-u><C-w>日<Enter>", []int{3}},
		{"nothing that matches", words, "qqq<Enter>", nil},
		{"left", words, "ape<Esc>", nil},
		{"Tab where one is picked", words, "<Tab><Enter>", []int{0}},
	} {
		l, screen := pickerOf(t, 80, 10, tt.prompts...)
		go func() {
			for _, key := range keys(tt.keys) {
				screen.InjectKey(key.Key(), key.Rune(), key.Modifiers())
			}
		}()
		got, err := l.run(t.Context())
		if !slices.Equal(got, tt.want) || (err != nil) != (tt.want == nil) || err != nil && !errors.Is(err, errNone) {
			t.Errorf("%s: %q picks %v, %v; want %v", tt.name, tt.keys, got, err, tt.want)
		}
	}
}

// Who comes back from a turn's page finds what was typed, and what was chosen.
func TestPickerAgain(t *testing.T) {
	t.Parallel()
	l, screen := pickerOf(t, 40, 10, "an ape", "zebra", "two apes", "an ape again")
	for _, run := range []struct {
		keys string
		want int
	}{
		{"ape<Up><Enter>", 2}, {"<Enter>", 2}, {"<Down><Enter>", 0}, {"<C-u>z<Enter>", 1},
	} {
		go func() {
			for _, key := range keys(run.keys) {
				screen.InjectKey(key.Key(), key.Rune(), key.Modifiers())
			}
		}()
		got, err := l.run(t.Context())
		if err != nil || !slices.Equal(got, []int{run.want}) {
			t.Errorf("%q picks %v, %v; want %d", run.keys, got, err, run.want)
		}
	}
}

func TestPickerOfMany(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		keys string
		want []int
	}{
		{"<Enter>", []int{0}},
		{"<Up><Up><Tab><Tab><Tab><Enter>", []int{2, 1, 0}},
		{"<Tab><Tab><Enter>", nil}, // marked, and unmarked: the one under the cursor
		{"<Up><Tab>c<Tab><Enter>", []int{1, 2}},
	} {
		l, screen := pickerOf(t, 80, 10, "aa", "bb", "cc")
		l.many = true
		go func() {
			for _, key := range keys(tt.keys) {
				screen.InjectKey(key.Key(), key.Rune(), key.Modifiers())
			}
		}()
		got, err := l.run(t.Context())
		if tt.want == nil {
			tt.want = []int{0}
		}
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%q picks %v, %v; want %v", tt.keys, got, err, tt.want)
		}
	}
}

// Turns that are read while the list is on the screen come into it, and what was chosen stays that.
func TestPickerGrows(t *testing.T) {
	t.Parallel()
	l, _ := pickerOf(t, 80, 10, "one apple", "two", "an apple")
	for _, key := range keys("apple<Up>") {
		l.search(true)
		l.press(key)
		l.stale = true
	}
	was := l.found
	l.search(true)
	chosen := l.found[l.chosen].Idx
	l.f.lines = append(l.f.lines, "apple")
	l.f.turns = append(l.f.turns, l.f.turns[0])
	l.stale = true
	l.search(true)
	if len(was) != 2 || len(l.found) != 3 || l.found[l.chosen].Idx != chosen || l.all != 4 {
		t.Errorf("%d match, then %d of %d, and %d is chosen, want %d", len(was), len(l.found), l.all, l.found[l.chosen].Idx, chosen)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("run of what was cancelled: %v", err)
	}
}

func TestPickerDraws(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name          string
		columns, rows int
		keys          string
		want          string
	}{
		{"nothing typed", 40, 7, "", `
     1  日本語のテキスト 日本語の…    1m
     2  second                        1m
     3  third                         1m
>    4  the newest one                1m
  4/4
Enter: look at it >
`},
		{"typed", 40, 5, "th<Up>", `
     1  日本語のテキスト 日本語の…    1m
>    3  third                         1m
     4  the newest one                1m
  3/4
Enter: look at it > th
`},
		{"narrow", 20, 6, "new", `

>    4  the newest …
  1/4
> new
`},
		{"much typed", 20, 4, "abcdefghijklmnopqrstuvwxyz", `

  0/4
> jklmnopqrstuvwxyz
`},
		{"tiny", 4, 2, "t", ""},
		{"nothing", 1, 1, "t<Up><Tab>", ""},
	} {
		l, screen := pickerOf(t, tt.columns, tt.rows, "the newest one", "third", "second", "日本語のテキスト 日本語のテキスト 日本語のテキスト th")
		l.many = tt.name == "nothing"
		l.stale = true
		for _, key := range keys(tt.keys) {
			l.search(true)
			l.press(key)
		}
		l.search(true)
		l.draw()
		if got := shown(screen); tt.want != "" && strings.TrimLeft(got, "\n") != strings.TrimLeft(tt.want, "\n") {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}

// Beside a list in a wide terminal there is a preview; in a narrower one there is none.
func TestPreview(t *testing.T) {
	t.Parallel()
	for _, columns := range []int{wide, wide - 1} {
		l, screen := pickerOf(t, columns, 20, "the newest one", "third")
		l.stale = true
		l.search(true)
		l.press(keys("<Up>")[0])
		l.draw()
		l.preview(t.Context())
		if got := shown(screen); strings.Contains(got, "│ Reply 1.") != (columns == wide) || strings.Contains(got, "Reply 2.") {
			t.Errorf("%d columns:\n%s", columns, got)
		}
	}
}

// A page that follows a list is left by keys, and not by what the list's searches have left.
func TestPageAfterList(t *testing.T) {
	t.Parallel()
	l, screen := pickerOf(t, 40, 10, "the newest one", "third")
	gittest.Must(t, screen.PostEvent(tcell.NewEventInterrupt(more)))
	screen.InjectKey(tcell.KeyEnter, 0, tcell.ModNone)
	if taken, err := l.f.page(t.Context(), screen, l.f.turn(0)); !taken || err != nil {
		t.Errorf("page = %v, %v, want taken", taken, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if taken, err := l.f.page(ctx, screen, l.f.turn(0)); taken || !errors.Is(err, context.Canceled) {
		t.Errorf("page of what was cancelled = %v, %v", taken, err)
	}
}

// What nobody has a description of is like xterm. What can't place the cursor is not drawn on.
func TestDescribeTerminal(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		term string
		ok   bool
	}{
		{"xterm-256color", true},
		{"tmux-256color", true},
		{"screen", true},
		{"linux", true},
		{"vt100", true},
		{"alacritty", true},
		{"xterm-kitty", true},
		{"foot", true},
		{"wezterm", true},
		{"contour", true},
		{"ms-terminal", true},
		{"xterm-ghostty", true},
		{"a-terminal-of-tomorrow", true},
		{"../../etc/passwd", true},
		{"-V", false}, // infocmp's own
		{"dumb", false},
	} {
		known, err := describeTerminal(tt.term)
		if (err == nil) != tt.ok {
			t.Errorf("%s: %v", tt.term, err)
		}
		if err == nil && known.SetCursor == "" {
			t.Errorf("%s: the cursor can't be placed", tt.term)
		}
	}
}

func BenchmarkMatch(b *testing.B) {
	lines := make([]string, 10_000)
	for i := range lines {
		lines[i] = fmt.Sprintf("%4d  Prompt number %d of many, about the parser  5m  src/main.c", i, i)
	}
	for b.Loop() {
		match("parser", lines)
	}
}
