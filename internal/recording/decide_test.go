package recording_test

import (
	"errors"
	"testing"

	"gitagent/internal/git"
	"gitagent/internal/recording"
)

func TestDecide(t *testing.T) {
	t.Parallel()
	record := func(words ...string) (lines []git.ConfigLine) { // scope, value, ...
		for i := 0; i < len(words); i += 2 {
			lines = append(lines, git.ConfigLine{Scope: words[i], Key: "agent.record", Value: words[i+1]})
		}
		return lines
	}
	broken := errors.New("broken")
	const else1 = "it belongs to somebody else"
	for _, tt := range []struct {
		name string
		f    recording.Facts
		on   bool
		why  recording.Reason
	}{
		{"nothing", recording.Facts{}, false, recording.Nothing},
		{"an exception alone", recording.Facts{Except: "gitdir:a"}, false, recording.Nothing},
		{"init", recording.Facts{Init: true}, true, recording.Init},
		{"init, in what is never recorded as one of all", recording.Facts{Init: true, Never: "temporary", Foreign: true, Everywhere: true}, true, recording.Init},
		{"init, excepted", recording.Facts{Init: true, Everywhere: true, Except: "gitdir:a"}, true, recording.Init},
		{"init, exceptions broken", recording.Facts{Init: true, Everywhere: true, Unread: broken}, true, recording.Init},
		{"init, off for the user", recording.Facts{Init: true, Record: record("global", "false")}, true, recording.Init},
		{"init, off here", recording.Facts{Init: true, Record: record("local", "false")}, false, recording.Record},
		{"init, off in the worktree", recording.Facts{Init: true, Record: record("local", "true", "worktree", "no")}, false, recording.Record},
		{"init, off here, on for the command", recording.Facts{Init: true, Record: record("local", "false", "command", "true")}, false, recording.Record},
		{"here", recording.Facts{Record: record("local", "true")}, true, recording.Record},
		{"here, temporary", recording.Facts{Record: record("local", "on"), Never: "temporary"}, true, recording.Record},
		{"here, excepted", recording.Facts{Record: record("local", "1"), Except: "gitdir:a"}, true, recording.Record},
		{"here, off for the user", recording.Facts{Record: record("global", "false", "local", "true")}, true, recording.Record},
		{"here, in a stranger's", recording.Facts{Record: record("local", "true"), Foreign: true, Never: else1}, false, recording.Never},
		{"no boolean here", recording.Facts{Record: record("local", "maybe"), Everywhere: true, Init: true}, false, recording.Record},
		{"no boolean", recording.Facts{Record: record("global", "maybe"), Everywhere: true}, false, recording.Record},
		{"everywhere", recording.Facts{Everywhere: true}, true, recording.Everywhere},
		{"everywhere, off here", recording.Facts{Everywhere: true, Record: record("global", "true", "local", "false")}, false, recording.Record},
		{"everywhere, off in git's", recording.Facts{Everywhere: true, Record: record("global", "off")}, false, recording.Record},
		{"everywhere, off in the environment", recording.Facts{Everywhere: true, Record: record("global", "true", "command", "false")}, false, recording.Record},
		{"everywhere, never here", recording.Facts{Everywhere: true, Never: else1, Foreign: true}, false, recording.Never},
		{"everywhere, excepted", recording.Facts{Everywhere: true, Except: "gitdir:a"}, false, recording.Except},
		{"everywhere, exceptions broken", recording.Facts{Everywhere: true, Unread: broken, Except: "gitdir:a"}, false, recording.Unread},
		{"perhaps everywhere", recording.Facts{Unread: broken}, false, recording.Unread},
		{"perhaps everywhere, never here", recording.Facts{Unread: broken, Never: "temporary"}, false, recording.Never},
		{"git's everywhere", recording.Facts{Record: record("global", "true")}, true, recording.Record},
		{"the system's everywhere", recording.Facts{Record: record("system", "true")}, true, recording.Record},
		{"git's everywhere, never here", recording.Facts{Record: record("global", "true"), Never: "temporary"}, false, recording.Never},
		{"git's everywhere, excepted", recording.Facts{Record: record("global", "true"), Except: "gitdir:a"}, false, recording.Except},
		{"git's everywhere, exceptions broken", recording.Facts{Record: record("global", "true"), Unread: broken}, false, recording.Unread},
	} {
		if got := recording.Decide(tt.f); got.On != tt.on || got.Reason != tt.why {
			t.Errorf("%s: %+v; want %t by %d", tt.name, got, tt.on, tt.why)
		}
	}
}
