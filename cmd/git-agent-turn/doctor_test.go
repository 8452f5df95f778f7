package main

import (
	"reflect"
	"testing"
	"time"

	"gitagent/internal/cmdline"
	"gitagent/internal/session"
	"gitagent/test/gittest"
)

func TestFindingLines(t *testing.T) {
	t.Parallel()
	dates, err := cmdline.ParseDates("short", false)
	gittest.Must(t, err)
	for _, tt := range []struct {
		in      finding
		columns int
		colour  bool
		want    string
	}{
		{finding{Level: fine, What: "git", Text: "2.47.0"}, 80, true, "git          2.47.0\n"},
		{
			finding{Level: problem, What: "recording", Text: "off in /repo", Remedy: "git agent-turn init"},
			0, false,
			"recording    problem: off in /repo\n             remedy: git agent-turn init\n",
		},
		{
			finding{Level: warning, What: "key", Text: "none of yours"},
			30, true,
			"key          \x1b[33mwarning:\x1b[m none of\n             yours\n",
		},
		{finding{Level: fine, What: "log", At: time.Date(2026, 11, 20, 12, 0, 0, 0, time.Local), Text: "disk full"}, 80, false, "log          2026-11-20: disk full\n"},
		{finding{Level: fine, What: "log", Text: "one\n\x1b[2Jtwo"}, 80, false, "log          one \\x1b[2Jtwo\n"},
	} {
		if got := tt.in.lines(tt.columns, tt.colour, dates); got != tt.want {
			t.Errorf("%+v in %d columns is %q, want %q", tt.in, tt.columns, got, tt.want)
		}
	}
}

func TestSummary(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		problems, warnings int
		want               string
	}{
		{0, 0, "no problem\n\n"},
		{0, 2, "\nno problem, 2 warnings\n\n"},
		{1, 0, "\n1 problem\n\n"},
		{2, 1, "\n2 problems, 1 warning\n\n"},
	} {
		if got := summary(tt.problems, tt.warnings); got != tt.want {
			t.Errorf("summary(%d, %d) = %q, want %q", tt.problems, tt.warnings, got, tt.want)
		}
	}
}

func TestLogged(t *testing.T) {
	t.Parallel()
	at := func(minute int) time.Time { return time.Date(2026, 11, 20, 12, minute, 0, 0, time.UTC) }
	entries := []session.Logged{{At: at(1), Text: "a"}, {At: at(2), Text: "b"}, {At: at(3), Text: "a"}, {At: at(4), Text: "c"}}
	want := []finding{
		{Level: fine, What: "log", At: at(4), Text: "c"},
		{Level: fine, What: "log", At: at(3), Text: "a (2 times)"},
	}
	if got := logged(entries, 2); !reflect.DeepEqual(got, want) {
		t.Errorf("logged = %v, want %v", got, want)
	}
}
