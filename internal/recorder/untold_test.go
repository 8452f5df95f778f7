package recorder

import (
	"path/filepath"
	"reflect"
	"testing"

	"gitagent/hooks"
	"gitagent/internal/journal"
	"gitagent/internal/owners"
)

// TestUntold: of the calls that a client's file tells of, those count that the journal has not from the session's hooks, in
// the turn, and that may have written in the worktree.
func TestUntold(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	repo := b.workspace().Repo
	p := span{who: "s", to: 900, Span: journal.Span{From: 100, Seen: []*journal.Entry{
		{Session: "s", At: 200, Calls: []journal.Call{{ID: "told", Tool: "Bash"}}},
		{Session: "t", At: 300, Calls: []journal.Call{{ID: "patch", Tool: "Edit", Path: "x"}}},
	}}}
	call := func(id string, from, to int64, command string, paths ...string) hooks.Ran {
		c := hooks.Ran{Call: hooks.Call{ID: id, Command: command}, Cwd: filepath.Join(b.Dir, "sub"), From: from, To: to}
		for _, path := range paths {
			c.Effect, c.Paths = hooks.Edits, append(c.Paths, filepath.Join(b.Dir, path))
		}
		return c
	}
	got := p.untold(repo, []hooks.Ran{
		call("before", 10, 90, "make"),
		call("told", 110, 200, "make"),
		call("patch", 210, 220, "", "a", "sub/b", "../outside"),
		call("elsewhere", 210, 220, "", "../outside"),
		call("idle", 300, 800, "sleep 9"),
		call("long", 300, 800, "make >log ../a"),
		call("git", 400, 500, "git stash"),
		call("after", 901, 950, "make"),
	})
	want := []owners.Claim{
		{Who: "s", From: 210, To: 220, Paths: []string{"a", "sub/b"}},
		{Who: "s", From: 300, To: 800, Named: []string{"a", "sub/log"}},
		{Who: "s", From: 400, To: 500, Named: []string{"sub/stash"}, Git: true},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
