package repair

import (
	"slices"
	"testing"
	"time"
)

func TestSay(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		lost lostOf
		want string
	}{
		{lostOf{}, ""},
		{lostOf{record: true}, "turn a/1: record missing"},
		{lostOf{conversation: true, code: true}, "turn a/1: conversation, code missing"},
		{lostOf{true, true, true}, "turn a/1: record, conversation, code missing"},
	} {
		if got := tt.lost.say("turn a/1"); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.lost, got, tt.want)
		}
	}
}

func TestNoted(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	turn := key{Kind: "turn", Mission: "a1b2c3d4", Turn: 3, At: at}
	for _, tt := range []struct {
		note string
		want bool
	}{
		{"", false},
		{`{"kind":"turn","mission":"a1b2c3d4","turn":3,"at":"2026-11-20T12:00:00Z","code":"x"}`, true},
		{`{"kind":"turn","mission":"a1b2c3d4","turn":3,"at":"2026-11-20T13:00:00+01:00"}` + "\n", true},
		{`{"kind":"turn","mission":"a1b2c3d4","turn":3,"at":"2026-11-21T12:00:00Z"}`, true},
		{`{"kind":"turn","mission":"a1b2c3d4","turn":3,"at":"2026-11-19T12:00:00Z"}`, false}, // recorded again since
		{`{"kind":"turn","mission":"a1b2c3d4","turn":4,"at":"2026-11-20T12:00:00Z"}`, false},
		{`{"kind":"handoff","mission":"a1b2c3d4","handoff":3,"at":"2026-11-20T12:00:00Z"}`, false},
		{"torn {\n\n" + `{"kind":"turn","mission":"a1b2c3d4","turn":3,"at":"2026-11-20T12:00:00Z"}`, true},
	} {
		if got := noted([]byte(tt.note), turn); got != tt.want {
			t.Errorf("noted(%q) = %t, want %t", tt.note, got, tt.want)
		}
	}
}

func TestPrunable(t *testing.T) {
	t.Parallel()
	list := "worktree /home/dev/repo\x00HEAD 1\x00branch refs/heads/main\x00\x00" +
		"worktree /home/dev/gone\x00HEAD 1\x00branch refs/heads/agent/mission/a1b2c3d4\x00prunable gitdir file points to non-existent location\x00\x00" +
		"worktree /home/dev/his\x00HEAD 1\x00branch refs/heads/his\x00prunable\x00\x00" +
		"worktree /home/dev/here\x00HEAD 1\x00branch refs/heads/agent/mission/deadbeef\x00\x00"
	got := prunable(list, func(branch string) bool { return branch != "refs/heads/main" && branch != "refs/heads/his" })
	if want := []string{"/home/dev/gone"}; !slices.Equal(got, want) {
		t.Errorf("prunable = %q, want %q", got, want)
	}
}
