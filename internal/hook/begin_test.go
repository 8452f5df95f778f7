package hook

import (
	"os"
	"slices"
	"testing"

	"gitagent/hooks"
	"gitagent/internal/record"
)

// Of a client that tells of no prompt, a turn begins with its session, in the worktree as it is then, and once: its hook may
// be in two files of settings.
func TestBegin(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	begins := func(pid int, session string) {
		t.Helper()
		l.Write("mine", "a person's before session "+session+"\n")
		h := l.hook(pid, hooks.Payload{Name: "SessionStart", SessionID: session, Source: "startup", Begins: true})
		h.digest = session
		for range 2 {
			if err := Handoff.events[h.event.Name](t.Context(), h); err != nil {
				t.Fatal(err)
			}
		}
	}
	me := os.Getpid()
	begins(me, "one")
	l.Write("file", "an agent's\n")
	l.event(me, hooks.Payload{Name: "Stop", SessionID: "one", PromptID: "p", LastAssistantMessage: "done"})
	l.event(me, hooks.Payload{Name: "SessionEnd", SessionID: "one"})

	w := l.hook(0, hooks.Payload{}).open()
	last := w.Store.Load("one").Last
	if last == nil || last.Turn != 1 || last.PromptID != "p" {
		t.Fatalf("the last turn is %+v, want the first", last)
	}
	for rev, want := range map[string]string{
		last.Base.String() + ":mine": "a person's before session one", last.Base.String() + ":file": "1", last.Code.String() + ":file": "an agent's",
	} {
		if got := l.Git("show", rev); got != want {
			t.Errorf("%s is %q, want %q", rev, got, want)
		}
	}

	begins(gone(t), "killed")
	l.event(me, hooks.Payload{Name: "SessionStart", SessionID: "next", Source: "startup"})
	if got := l.handoffs("killed"); !slices.Equal(got, []record.ExitType{record.Killed}) {
		t.Errorf("handoffs of a session that was killed in its first turn: %q", got)
	}
}
