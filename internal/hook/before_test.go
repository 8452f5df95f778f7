package hook

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/hooks"
	"gitagent/internal/journal"
	"gitagent/test/gittest"
)

// Before a command that may destroy something the state is kept, once, and nothing is answered, whatever happens.
func TestBefore(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.event(0, hooks.Payload{Name: "UserPromptSubmit", SessionID: "one", PromptID: "p", Prompt: "Go on"})
	before := func(digest, command string) {
		t.Helper()
		h := l.hook(0, hooks.Payload{Name: "PreToolUse", SessionID: "one", PromptID: "p", Calls: []hooks.Call{{ID: "1", Tool: "Bash", Command: command}}})
		h.digest = digest
		if err := Handoff.events["PreToolUse"](t.Context(), h); err != nil || h.answer != (hooks.Answer{}) {
			t.Errorf("%s: the answer is %+v, %v", command, h.answer, err)
		}
	}
	states := func() (n int) {
		t.Helper()
		all, err := journal.Read(l.hook(0, hooks.Payload{}).repo)
		gittest.Must(t, err)
		for _, e := range all {
			if e.Before {
				n++
			}
		}
		return n
	}
	for _, tt := range []struct {
		digest, command string
		want            int
	}{
		{"1", "ls", 0},
		{"2", "rm file", 1},
		{"2", "rm file", 1}, // of another rule
		{"3", "git stash", 2},
	} {
		l.Write("file", tt.digest+tt.command)
		if before(tt.digest, tt.command); states() != tt.want {
			t.Errorf("after %q there are %d states, want %d", tt.command, states(), tt.want)
		}
	}
	gittest.Must(t, os.Remove(filepath.Join(l.Dir, ".git/agent/steps")))
	l.Write(".git/agent/steps/x", "")
	before("4", "git clean -fd")
	if log := l.hook(0, hooks.Payload{}).store.LogTail(1); len(log) != 1 || !strings.Contains(log[0].Text, "keep a step") {
		t.Errorf("the log has %v", log)
	}
}
