package recording

import (
	"errors"
	"testing"

	"gitagent/internal/git"
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
		f    Facts
		on   bool
		why  Reason
	}{
		{"nothing", Facts{}, false, Nothing},
		{"an exception alone", Facts{Except: "gitdir:a"}, false, Nothing},
		{"init", Facts{Init: true}, true, Init},
		{"init, in what is never recorded as one of all", Facts{Init: true, Never: "temporary", Foreign: true, Everywhere: true}, true, Init},
		{"init, excepted", Facts{Init: true, Everywhere: true, Except: "gitdir:a"}, true, Init},
		{"init, exceptions broken", Facts{Init: true, Everywhere: true, Unread: broken}, true, Init},
		{"init, off for the user", Facts{Init: true, Record: record("global", "false")}, true, Init},
		{"init, off here", Facts{Init: true, Record: record("local", "false")}, false, Record},
		{"init, off in the worktree", Facts{Init: true, Record: record("local", "true", "worktree", "no")}, false, Record},
		{"init, off here, on for the command", Facts{Init: true, Record: record("local", "false", "command", "true")}, false, Record},
		{"here", Facts{Record: record("local", "true")}, true, Record},
		{"here, temporary", Facts{Record: record("local", "on"), Never: "temporary"}, true, Record},
		{"here, excepted", Facts{Record: record("local", "1"), Except: "gitdir:a"}, true, Record},
		{"here, off for the user", Facts{Record: record("global", "false", "local", "true")}, true, Record},
		{"here, in a stranger's", Facts{Record: record("local", "true"), Foreign: true, Never: else1}, false, Never},
		{"no boolean here", Facts{Record: record("local", "maybe"), Everywhere: true, Init: true}, false, Record},
		{"no boolean", Facts{Record: record("global", "maybe"), Everywhere: true}, false, Record},
		{"everywhere", Facts{Everywhere: true}, true, Everywhere},
		{"everywhere, off here", Facts{Everywhere: true, Record: record("global", "true", "local", "false")}, false, Record},
		{"everywhere, off in git's", Facts{Everywhere: true, Record: record("global", "off")}, false, Record},
		{"everywhere, off in the environment", Facts{Everywhere: true, Record: record("global", "true", "command", "false")}, false, Record},
		{"everywhere, never here", Facts{Everywhere: true, Never: else1, Foreign: true}, false, Never},
		{"everywhere, excepted", Facts{Everywhere: true, Except: "gitdir:a"}, false, Except},
		{"everywhere, exceptions broken", Facts{Everywhere: true, Unread: broken, Except: "gitdir:a"}, false, Unread},
		{"perhaps everywhere", Facts{Unread: broken}, false, Unread},
		{"perhaps everywhere, never here", Facts{Unread: broken, Never: "temporary"}, false, Never},
		{"git's everywhere", Facts{Record: record("global", "true")}, true, Record},
		{"the system's everywhere", Facts{Record: record("system", "true")}, true, Record},
		{"git's everywhere, never here", Facts{Record: record("global", "true"), Never: "temporary"}, false, Never},
		{"git's everywhere, excepted", Facts{Record: record("global", "true"), Except: "gitdir:a"}, false, Except},
		{"git's everywhere, exceptions broken", Facts{Record: record("global", "true"), Unread: broken}, false, Unread},
	} {
		if got := Decide(tt.f); got.On != tt.on || got.Reason != tt.why {
			t.Errorf("%s: %+v; want %t by %d", tt.name, got, tt.on, tt.why)
		}
	}
}
