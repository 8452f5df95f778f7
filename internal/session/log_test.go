package session

import (
	"strings"
	"testing"
	"time"

	"gitagent/test/gittest"
)

func TestNewest(t *testing.T) {
	t.Parallel()
	const a, b, c = "2026-11-20T12:00:00Z one\n", "2026-11-21T12:00:00Z two\n", "2026-11-22T12:00:00Z three\n"
	at := func(text string) time.Time {
		t.Helper()
		at, err := time.Parse(time.DateOnly, text)
		gittest.Must(t, err)
		return at
	}
	const all = 1 << 20
	for _, tt := range []struct {
		name, log string
		before    time.Time
		most      int64
		want      string
	}{
		{"empty", "", at("2026-11-21"), all, ""},
		{"no bounds", a + b + c, time.Time{}, all, a + b + c},
		{"an old line", a + b + c, at("2026-11-21"), all, b + c},
		{"all are old", a + b, at("2026-11-30"), all, ""},
		{"a line of somebody else's, before an old one", "odd\n" + a + b, at("2026-11-21"), all, b},
		{"a line of somebody else's, before a new one", a + "odd\n" + b, at("2026-11-21"), all, "odd\n" + b},
		{"out of order", b + a + c, at("2026-11-21"), all, b + a + c},
		{"just as large as it may be", a + b, time.Time{}, int64(len(a + b)), a + b},
		{"one byte too large", a + b, time.Time{}, int64(len(a+b)) - 1, b},
		{"cut at the beginning of a line", a + b, time.Time{}, int64(len(b)), b},
		{"smaller than a line", a + b, time.Time{}, 3, ""},
		{"half a line at the end", a + "2026-11-22T12:00:00Z thr", at("2026-11-21"), all, "2026-11-22T12:00:00Z thr"},
	} {
		if got := string(newest([]byte(tt.log), tt.before, tt.most)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestTrimLog(t *testing.T) {
	t.Parallel()
	s := Open(t.TempDir())
	if err := s.TrimLog(then, 10); err != nil {
		t.Errorf("without a log: %v", err)
	}
	s.Log(then, "old")
	s.Log(then.Add(time.Hour), strings.Repeat("new ", 10))
	gittest.Must(t, s.TrimLog(then.Add(time.Minute), 1<<10))
	if got := s.LogTail(5); len(got) != 1 || !strings.HasPrefix(got[0].Text, "new") {
		t.Errorf("left are %v", got)
	}
}
