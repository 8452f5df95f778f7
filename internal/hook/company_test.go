package hook

import (
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gitagent/hooks"
	"gitagent/internal/session"
)

// Two sessions in one checkout are told of each other once, whatever hooks run
// at the same moment; the next conversation of a client is not beside its last.
func TestCompany(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	me, other := os.Getpid(), os.Getppid() // processes that live
	prompt := func(pid int, session string) string {
		t.Helper()
		a := l.event(pid, hooks.Payload{Name: "UserPromptSubmit", SessionID: session, PromptID: "p", Prompt: "XYZZY"})
		if a.Model != a.User || a.Model != "" && a.Event != "UserPromptSubmit" || strings.Contains(a.Model, "XYZZY") {
			t.Errorf("session %s is told %+v", session, a)
		}
		return a.Model
	}
	if told := prompt(me, "aaaaaaaa") + prompt(me, "aaaaaaaa"); told != "" {
		t.Errorf("alone: %q", told)
	}
	if told := l.event(other, hooks.Payload{Name: "SessionStart", SessionID: "bbbbbbbb", Source: "startup"}); !strings.Contains(told.Model, "(mission aaaaaaaa, since ") || told.User != told.Model {
		t.Errorf("the second one is told %+v", told)
	}
	if told := prompt(me, "aaaaaaaa"); told != "" {
		t.Errorf("before the second one is at work: %q", told)
	}
	if told := prompt(other, "bbbbbbbb"); told != "" {
		t.Errorf("the second one is told again: %q", told)
	}
	var told atomic.Int32
	var all sync.WaitGroup
	for range 8 { // of settings and a plugin
		h := l.hook(me, hooks.Payload{Name: "UserPromptSubmit", SessionID: "aaaaaaaa"})
		all.Go(func() {
			if err := h.arrive(h.open()); err != nil {
				t.Error(err)
			}
			if strings.Contains(h.answer.Model, "(mission bbbbbbbb, since ") {
				told.Add(1)
			}
		})
	}
	all.Wait()
	if told.Load() != 1 {
		t.Errorf("the first one is told %d times", told.Load())
	}
	l.event(me, hooks.Payload{Name: "Stop", SessionID: "aaaaaaaa", PromptID: "p", LastAssistantMessage: "done"})
	if told := prompt(me, "cccccccc"); !strings.Contains(told, "bbbbbbbb") || strings.Contains(told, "aaaaaaaa") {
		t.Errorf("the client's next conversation is told %q", told)
	}
	l.event(me, hooks.Payload{Name: "Stop", SessionID: "cccccccc", PromptID: "p", LastAssistantMessage: "done"})
	l.event(other, hooks.Payload{Name: "SessionEnd", SessionID: "bbbbbbbb", Reason: "other"})
	if told := prompt(me, "dddddddd"); told != "" {
		t.Errorf("after the second one has ended: %q", told)
	}
}

func TestTellOf(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 13, 0, 0, 0, time.FixedZone("", 3600))
	one := companion{&session.Known{Agent: "codex", Mission: "a1b2c3d4"}, at}
	odd := companion{&session.Known{Agent: "EVIL\n", Mission: "EVIL\x1b[1m", Session: "EVIL"}, at}
	for _, tt := range []struct {
		list    []companion
		command string
		want    string
	}{
		{
			[]companion{one},
			"git worktree add /home/dev/x",
			"git-agent: beside this session, Codex (mission a1b2c3d4, since 2026-11-20T12:00:00Z) is at work in this checkout. " +
				"Each turn's own change is told apart as far as possible, but a reset, a checkout or a stash takes the work of all along; " +
				"to work apart: git worktree add /home/dev/x",
		},
		{
			[]companion{one, odd},
			"",
			"git-agent: beside this session, Codex (mission a1b2c3d4, since 2026-11-20T12:00:00Z) and an agent (since 2026-11-20T12:00:00Z) are at work in this checkout. " +
				"Each turn's own change is told apart as far as possible, but a reset, a checkout or a stash takes the work of all along.",
		},
	} {
		if got := tellOf(tt.list, tt.command); got != tt.want {
			t.Errorf("got  %q\nwant %q", got, tt.want)
		}
	}
	many := make([]companion, 100)
	for i := range many {
		many[i] = one
	}
	if got := tellOf(many, ""); len(got) > 600 || !strings.Contains(got, " and 97 more sessions are at work") {
		t.Errorf("of a hundred: %q", got)
	}
}
