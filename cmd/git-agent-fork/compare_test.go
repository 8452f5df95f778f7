package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/record"
	"gitagent/internal/trust"
	"gitagent/test/gittest"
	"gitagent/turns"
)

// comparisonOf is a comparison of forks, printed with or without checks.
func comparisonOf(t *testing.T, checks bool, forks ...*compared) *comparing {
	t.Helper()
	set := flag.NewFlagSet("compare", flag.ContinueOnError)
	set.String("check", "", "")
	if checks {
		gittest.Must(t, set.Set("check", "make test"))
	}
	return &comparing{c: cli.NewContext(nil, set, nil), now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), forks: forks}
}

func forkOf(id record.ID, title string) *compared {
	return &compared{
		Compared: &turns.Compared{
			Mission: &record.Mission{ID: id, Title: title}, By: trust.Clone, Newest: true,
			Point: turns.ForkPoint{Of: record.TurnID{Mission: "a1b2c3d4", Turn: 12}, Commit: object.NewHash("0123456789012345678901234567890123456789")},
		},
		name: string(id), state: turns.IsEnded,
	}
}

// TestCompareLayout: a screen of 80 columns.
func TestCompareLayout(t *testing.T) {
	t.Parallel()
	one, two, three := forkOf("11111111", "Speed up the list"), forkOf("22222222", "Speed up the list"), forkOf("33333333", "Speed up the list")
	one.Turns, one.Output, one.Context, one.Took = 51, 45_678, 120_000, 83*time.Minute
	one.Ended = time.Date(2026, 11, 21, 11, 57, 0, 0, time.UTC)
	for i := range 20 {
		one.Said = append(one.Said, turns.Said{Turn: 13 + i, Prompt: fmt.Sprintf("prompt %d, and what is long enough to be cut at the end of a line of the terminal", i), Outcome: record.Done})
	}
	one.Last = &turns.Said{Turn: 63, Prompt: "and now with a cache that is bounded", Outcome: record.Interrupted}
	for i := range 23 {
		one.Changes = append(one.Changes, gitdiff.FileStat{Path: fmt.Sprintf("internal/list/file%d.go", i), Insertions: 3 * i, Deletions: i})
	}
	one.check = &checked{status: 2, took: 3 * time.Second, output: "--- FAIL: TestList\nexit status 1"}
	two.state, two.Turns, two.Last = turns.IsRunning, 1, &turns.Said{Turn: 13, Prompt: "rewrite it", Outcome: record.Done}
	two.Said, two.Ended = []turns.Said{*two.Last}, one.Ended
	two.Changes = []gitdiff.FileStat{{Path: "logo.png", Binary: true}}
	two.check = &checked{took: 2 * time.Second}
	two.Mission.Adopted = &record.Adoption{Turn: 13, At: one.Ended, Undone: true}
	three.Unknown = errors.New("compare trees: fatal: unable to read tree")
	three.check = &checked{why: "not checked: it has no worktree here"}
	c := comparisonOf(t, true, one, two, three)
	c.pairs = []pair{
		{one, two, turns.Difference{Changes: one.Changes, Both: 1}},
		{one, three, turns.Difference{Unknown: three.Unknown}},
		{two, three, turns.Difference{Unknown: three.Unknown}},
	}
	var b bytes.Buffer
	gittest.Must(t, c.text(&cmdline.Screen{Writer: &b, Columns: 80}))
	want, err := os.ReadFile("testdata/compare80.txt")
	gittest.Must(t, err)
	if got := b.String(); got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestCompareNarrow: a screen of 40 columns still says how much differs between forks.
func TestCompareNarrow(t *testing.T) {
	t.Parallel()
	one, two, three := forkOf("11111111", "a"), forkOf("22222222", "b"), forkOf("33333333", "c")
	changes := []gitdiff.FileStat{{Path: "a", Insertions: 12, Deletions: 4}, {Path: "b"}}
	c := comparisonOf(t, false, one, two, three)
	c.pairs = []pair{{one, two, turns.Difference{Changes: changes, Both: 1}}, {one, three, turns.Difference{}}}
	var b bytes.Buffer
	gittest.Must(t, c.text(&cmdline.Screen{Writer: &b, Columns: 40}))
	for _, want := range []string{"  11111111..22222222  2 files  +12  -4\n", "  11111111..33333333     same\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
}

// TestCompareStranger: what a stranger has written is shown, marked, and obeyed by no terminal.
func TestCompareStranger(t *testing.T) {
	t.Parallel()
	odd := "\x1b[2J\u202eod\nd" + strings.Repeat("x", 2000)
	f := forkOf("11111111", odd)
	f.By, f.Foreign = trust.Unknown, true
	f.Turns, f.Last = 1, &turns.Said{Turn: 13, Prompt: odd, Outcome: record.Outcome(odd)}
	f.Said, f.Changes = []turns.Said{*f.Last}, []gitdiff.FileStat{{Path: odd}}
	f.check = &checked{status: 1, output: odd}
	for _, columns := range []int{0, 40, 80, 200} {
		var b bytes.Buffer
		gittest.Must(t, comparisonOf(t, true, f).text(&cmdline.Screen{Writer: &b, Columns: columns}))
		if text := b.String(); strings.ContainsAny(text, "\x1b\u202e") || columns != 40 && !strings.Contains(text, "[unknown]") {
			t.Errorf("%d columns: %q", columns, text)
		}
	}
}

func TestTail(t *testing.T) {
	t.Parallel()
	var lines strings.Builder
	for i := range 100_000 {
		fmt.Fprintln(&lines, "line", i)
	}
	many := lines.String()
	for name, tt := range map[string]struct{ in, want string }{
		"nothing":      {"", ""},
		"blank":        {"\n\n", ""},
		"a line":       {"one", "one"},
		"lines":        {"one\r\ntwo\r\n", "one\ntwo"},
		"a bar":        {"1%\r50%\r100%\ndone\n", "100%\ndone"},
		"a long line":  {strings.Repeat("é", 100_000), strings.Repeat("é", 499) + "…"},
		"many lines":   {many, strings.TrimSuffix(many[strings.Index(many, "line 99980\n"):], "\n")},
		"no character": {"\xff\x00", "\xff\x00"},
	} {
		for _, size := range []int{1 << 20, 1000, 7} {
			end := new(tail)
			for in := tt.in; in != ""; {
				n := min(size, len(in))
				if _, err := end.Write([]byte(in[:n])); err != nil {
					t.Fatal(err)
				}
				in = in[n:]
			}
			if got := end.lines(); got != tt.want {
				t.Errorf("%s, written in pieces of %d: %.300q, want %.300q", name, size, got, tt.want)
			}
			if cap(end.text) > 5*maxTail {
				t.Errorf("%s, written in pieces of %d: %d bytes are kept", name, size, cap(end.text))
			}
		}
	}
}

func TestBest(t *testing.T) {
	t.Parallel()
	fork := func(id record.ID, turns int, check *checked, adopted *record.Adoption) *compared {
		f := forkOf(id, "")
		f.Turns, f.check, f.Mission.Adopted = turns, check, adopted
		return f
	}
	foreign := func(id record.ID) *compared {
		f := fork(id, 1, nil, nil)
		f.Foreign = true
		return f
	}
	gone := fork("11111111", 2, nil, &record.Adoption{Turn: 13})
	gone.Last = &turns.Said{Turn: 14}
	failed, passed := &checked{status: 1}, &checked{}
	for _, tt := range []struct {
		forks []*compared
		want  string
	}{
		{[]*compared{fork("11111111", 0, nil, nil), fork("22222222", 1, nil, nil)}, "22222222"},
		{[]*compared{fork("11111111", 1, failed, nil), fork("22222222", 1, passed, nil)}, "22222222"},
		{[]*compared{fork("11111111", 1, failed, nil), fork("22222222", 1, &checked{why: interrupted}, nil)}, ""},
		{[]*compared{fork("11111111", 1, nil, &record.Adoption{Turn: 1}), fork("22222222", 1, nil, nil)}, "22222222"},
		{[]*compared{fork("11111111", 1, nil, &record.Adoption{Turn: 1, Undone: true}), fork("22222222", 1, nil, nil)}, "11111111"},
		{[]*compared{foreign("11111111"), fork("22222222", 1, nil, nil)}, "22222222"},
		{[]*compared{foreign("11111111"), foreign("22222222")}, "11111111"},
		{[]*compared{gone, fork("22222222", 1, nil, nil)}, "11111111"}, // it has gone on since
	} {
		got := ""
		if f := comparisonOf(t, false, tt.forks...).best(); f != nil {
			got = f.name
		}
		if got != tt.want {
			t.Errorf("best = %q, want %q", got, tt.want)
		}
	}
}
