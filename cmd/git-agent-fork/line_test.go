package main

import (
	"strings"
	"testing"
	"time"

	"gitagent/internal/cmdline"
	"gitagent/internal/record"
	"gitagent/turns"
)

func TestLine(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	turn := func(change func(*turns.Turn)) *turns.Turn {
		t := &turns.Turn{
			Mission: "a1b2c3d4", Turn: 12, At: now.Add(-5 * time.Minute), Outcome: record.Done, Prompt: "Fix the\nparser",
			Insertions: 47, Deletions: 12, Paths: []string{"src/main.c", "odd\x1bname"},
		}
		change(t)
		return t
	}
	same := func(*turns.Turn) {}
	for _, tt := range []struct {
		name string
		turn *turns.Turn
		all  bool
		room int
		want string
	}{
		{"with room", turn(same), false, 60, "  12  Fix the parser                         5m    +47   -12  src/main.c  odd\\x1bname"},
		{"of any mission", turn(same), true, 60, "a1b2c3d4/12    Fix the parser                             5m  src/main.c  odd\\x1bname"},
		{"narrow", turn(same), false, 20, "  12  Fix the…    5m  Fix the parser  src/main.c  odd\\x1bname"},
		{"20 columns", turn(same), false, 18, "  12  Fix the par…  Fix the parser  src/main.c  odd\\x1bname"},
		{"20 columns, of any mission", turn(same), true, 18, "Fix the parser      a1b2c3d4/12  src/main.c  odd\\x1bname"},
		{"no room at all", turn(same), false, -5, "…  Fix the parser  12  src/main.c  odd\\x1bname"},
		{"not done", turn(func(t *turns.Turn) { t.Outcome, t.Paths = record.Failed, nil }), false, 60, "  12  (failed) Fix the parser                5m    +47   -12"},
		{"wide characters", turn(func(t *turns.Turn) { t.Prompt, t.Paths = "日本語のテキスト", nil }), false, 21, "  12  日本語の…    5m  日本語のテキスト"},
		{"an emoji of unknown width", turn(func(t *turns.Turn) { t.Prompt, t.Paths = "a \u2764\ufe0f for you", nil }), false, 30, "  12  a \u2764 for you           5m"},
		{"many paths", turn(func(t *turns.Turn) { t.Paths = strings.Fields(strings.Repeat("x ", 90)) }), false, 30, "  12  Fix the parser        5m" + strings.Repeat("  x", maxPaths)},
	} {
		got := line(tt.turn, now, tt.all, tt.room)
		if got != tt.want {
			t.Errorf("%s:\ngot  %q\nwant %q", tt.name, got, tt.want)
		}
		if seen, _, ok := strings.Cut(got, "5m"); tt.room > 18 && (!ok || cmdline.Width(seen) > tt.room-2) {
			t.Errorf("%s: %q has more than %d columns", tt.name, seen, tt.room)
		}
	}
}
