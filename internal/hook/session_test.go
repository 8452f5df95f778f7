package hook

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gitagent/handoffstore"
	"gitagent/hooks"
	"gitagent/internal/agent"
	"gitagent/internal/git"
	"gitagent/internal/record"
	"gitagent/internal/session"
	"gitagent/test/gittest"
)

// TestMain keeps the developer's own configuration out.
func TestMain(m *testing.M) { os.Exit(gittest.Tests{M: m}.Run()) }

// A lab is a repository in which sessions begin and end.
type lab struct {
	*gittest.Repo
	t     *testing.T
	now   time.Time
	clock func() time.Time // nil for one that each event puts on by a second
}

func newLab(t *testing.T) *lab {
	t.Helper()
	r := gittest.New(t)
	r.Write("file", "1\n")
	r.Commit("first")
	return &lab{Repo: r, t: t, now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
}

// hook returns the hook of an event that comes a second after the one before.
// pid is the client's process.
func (l *lab) hook(pid int, e hooks.Payload) *hook {
	l.t.Helper()
	repo, err := git.Find(l.Dir)
	gittest.Must(l.t, err)
	e.Cwd = l.Dir
	if l.now = l.now.Add(time.Second); l.clock != nil {
		l.now = l.clock()
	}
	return &hook{
		program: Turn, at: l.now, agent: agent.Default(), client: hooks.Environment{PID: pid}, event: &e,
		repo: repo, store: session.Open(repo.CommonDir), known: true,
	}
}

// event does what our hooks do at an event, and returns the answer.
func (l *lab) event(pid int, e hooks.Payload) hooks.Answer {
	l.t.Helper()
	h := l.hook(pid, e)
	for _, p := range []*Program{Turn, Handoff} {
		if handle := p.events[e.Name]; handle != nil {
			if err := handle(l.t.Context(), h); err != nil {
				l.t.Fatalf("%s of session %s: %v", e.Name, e.SessionID, err)
			}
		}
	}
	for _, line := range h.store.LogTail(10) {
		l.t.Errorf("%s of session %s logged %q", e.Name, e.SessionID, line.Text)
	}
	return h.answer
}

// turn is a prompt, a change, and the end of the turn.
func (l *lab) turn(pid int, session, prompt string) {
	l.t.Helper()
	l.event(pid, hooks.Payload{Name: "UserPromptSubmit", SessionID: session, PromptID: prompt, Prompt: prompt})
	l.Write("file", prompt+"\n")
	l.event(pid, hooks.Payload{Name: "Stop", SessionID: session, PromptID: prompt, LastAssistantMessage: "done"})
}

// handoffs lists how the sessions ended that handed off for a session's mission.
func (l *lab) handoffs(session string) (exits []record.ExitType) {
	l.t.Helper()
	w := l.hook(0, hooks.Payload{}).open()
	id, err := record.ParseID(w.Store.Load(session).Mission)
	if err != nil {
		return nil
	}
	for _, path := range strings.Fields(l.Git("ls-tree", "-r", "--name-only", id.Ref(), "handoffs/")) {
		if strings.HasSuffix(path, ".json") {
			h, err := handoffstore.Parse([]byte(l.Git("show", id.Ref()+":"+path)), w.Repo.Format())
			gittest.Must(l.t, err)
			exits = append(exits, h.ExitType)
		}
	}
	return exits
}

// gone returns the id of a process that has ended.
func gone(t *testing.T) int {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	gittest.Must(t, cmd.Run())
	return cmd.ProcessState.Pid()
}

// A session that ends hands off once, whoever says so how often, and the next one
// is told. One in which nothing was recorded leaves nothing.
func TestEnd(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	me := os.Getpid()
	l.turn(me, "one", "Write a file")
	for range 2 {
		l.event(me, hooks.Payload{Name: "SessionEnd", SessionID: "one", Reason: "other"})
	}
	if got := l.handoffs("one"); !slices.Equal(got, []record.ExitType{record.Clean}) {
		t.Errorf("handoffs of one: %q", got)
	}
	told := l.event(me, hooks.Payload{Name: "SessionStart", SessionID: "two", Source: "startup"})
	if told.Event != "SessionStart" || !strings.Contains(told.Model, "git agent-handoff prime ") || told.User != "" {
		t.Errorf("the next session is told %+v", told)
	}
	l.event(me, hooks.Payload{Name: "SessionEnd", SessionID: "two", Reason: "other"})
	if got := l.handoffs("two"); got != nil {
		t.Errorf("handoffs of a session without a turn: %q", got)
	}
}

// The next session's start hands off for those that are gone, the one in the
// middle of a turn included, and tells the last of them.
func TestSweep(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLab(t)
	dead, me := gone(t), os.Getpid()
	l.turn(dead, "crashed", "Write a file")
	l.event(dead, hooks.Payload{Name: "UserPromptSubmit", SessionID: "killed", PromptID: "p", Prompt: "Write another"})
	l.event(me, hooks.Payload{Name: "UserPromptSubmit", SessionID: "lives", PromptID: "q", Prompt: "Write a third"})
	told := l.event(me, hooks.Payload{Name: "SessionStart", SessionID: "next", Source: "startup"})
	for session, want := range map[string][]record.ExitType{
		"crashed": {record.Crash}, "killed": {record.Killed}, "lives": nil,
	} {
		if got := l.handoffs(session); !slices.Equal(got, want) {
			t.Errorf("handoffs of %s: %q, want %q", session, got, want)
		}
	}
	if !strings.Contains(told.Model, "Write another") || !strings.Contains(told.Model, "Another session is gone, too (crash)") {
		t.Errorf("the next session is told %+v", told)
	}
	// A second start finds nothing more to do.
	l.event(me, hooks.Payload{Name: "SessionStart", SessionID: "last", Source: "startup"})
	if got := l.handoffs("killed"); !slices.Equal(got, []record.ExitType{record.Killed}) {
		t.Errorf("handoffs of killed after another start: %q", got)
	}
}

// A compaction hands off, and the conversation is told that afterwards, each time.
func TestCompact(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLab(t)
	me := os.Getpid()
	l.event(me, hooks.Payload{Name: "PreCompact", SessionID: "one", Trigger: "auto"})
	if got := l.handoffs("one"); got != nil {
		t.Errorf("handoffs before the first turn: %q", got)
	}
	for i, prompt := range []string{"Write a file", "Write another"} {
		l.turn(me, "one", prompt)
		l.event(me, hooks.Payload{Name: "PreCompact", SessionID: "one", Trigger: "auto"})
		if got := l.handoffs("one"); len(got) != i+1 {
			t.Errorf("handoffs after compaction %d: %q", i+1, got)
		}
		if told := l.event(me, hooks.Payload{Name: "SessionStart", SessionID: "one", Source: "compact"}); !strings.Contains(told.Model, prompt) {
			t.Errorf("after compaction %d the agent is told %+v", i+1, told)
		}
	}
}

// Somebody hands off for a session by a command: if it is gone, its last turn is
// recorded first.
func TestHandOff(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLab(t)
	dead := gone(t)
	l.turn(dead, "one", "Write a file")
	l.event(dead, hooks.Payload{Name: "UserPromptSubmit", SessionID: "one", PromptID: "p", Prompt: "Write another"})
	l.now = l.now.Add(time.Second)
	w := l.hook(0, hooks.Payload{}).open()
	id := record.ID(w.Store.Load("one").Mission)
	r := handoffstore.Request{At: l.now, Mission: id, Exit: record.Crash}
	if own := Complete(w, &r, nil); own || r.Session != "one" || r.Running != "Write another" {
		t.Fatalf("Complete = %t, %+v", own, r)
	}
	g, err := HandOff(t.Context(), w, r, false)
	if err != nil || g.ExitType != record.Crash || g.LastTurn != 2 {
		t.Fatalf("HandOff = %+v, %v", g, err)
	}
	if st := w.Store.Load("one"); !st.HandedOff || st.Open != nil {
		t.Errorf("the session's state is %+v", st)
	}
}

// Which session a request is about.
func TestComplete(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	w := l.hook(0, hooks.Payload{}).open()
	last := &session.Known{Session: "last", Mission: "a1b2c3d4", Worktree: w.Repo.GitDir, Transcript: "/home/dev/last", Agent: "codex"}
	err := w.Store.Update(t.Context(), "last", func(st *session.Known) error { last.V = st.V; *st = *last; return nil })
	gittest.Must(t, err)
	open := &session.OpenTurn{Prompt: "running", Transcript: "/home/dev/open"}
	for _, tt := range []struct {
		name  string
		r     handoffstore.Request
		agent *session.Known
		own   bool
		want  handoffstore.Request
	}{
		{
			"nobody, who says nothing",
			handoffstore.Request{Mission: "a1b2c3d4"},
			nil, false,
			handoffstore.Request{Mission: "a1b2c3d4", Session: "last", Transcript: "/home/dev/last", Agent: "codex"},
		},
		{
			"the same of a mission without a session",
			handoffstore.Request{Mission: "00000000"},
			nil, false,
			handoffstore.Request{Mission: "00000000"},
		},
		{
			"a person who says something",
			handoffstore.Request{Mission: "a1b2c3d4", Summary: "s"},
			nil, false,
			handoffstore.Request{Mission: "a1b2c3d4", Summary: "s"},
		},
		{
			"the agent",
			handoffstore.Request{Mission: "b1b2c3d4"},
			&session.Known{Session: "mine", Mission: "b1b2c3d4", Open: open, Agent: "x"}, true,
			handoffstore.Request{Mission: "b1b2c3d4", Session: "mine", Transcript: "/home/dev/open", Running: "running", Agent: "x"},
		},
		{
			"an agent that has recorded nothing",
			handoffstore.Request{Agent: "y"},
			&session.Known{Session: "mine", Agent: "x"}, true,
			handoffstore.Request{Session: "mine", Agent: "y"},
		},
		{
			"the agent of another mission",
			handoffstore.Request{Mission: "a1b2c3d4"},
			&session.Known{Session: "mine", Mission: "b1b2c3d4"}, false,
			handoffstore.Request{Mission: "a1b2c3d4", Session: "last", Transcript: "/home/dev/last", Agent: "codex"},
		},
	} {
		own := Complete(w, &tt.r, tt.agent)
		if own != tt.own || tt.r.Session != tt.want.Session || tt.r.Transcript != tt.want.Transcript ||
			tt.r.Agent != tt.want.Agent || tt.r.Running != tt.want.Running || tt.r.Mission != tt.want.Mission {
			t.Errorf("%s: %t, %+v, want %+v", tt.name, own, tt.r, tt.want)
		}
	}
}

// What a hook can't do is logged, and told once in a session.
func TestFail(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for i, want := range []bool{true, false} {
		h := l.hook(0, hooks.Payload{Name: "Stop", SessionID: "one"})
		h.fail(errors.New("no room"))
		if got := h.answer.User != ""; got != want {
			t.Errorf("failure %d is told: %q", i+1, h.answer.User)
		}
		if log := h.store.LogTail(9); len(log) != i+1 || log[i].Text != "no room" {
			t.Errorf("failure %d: the log has %v", i+1, log)
		}
	}
	h := l.hook(0, hooks.Payload{Name: "Stop", SessionID: "two"})
	h.known = false
	if h.fail(errors.New("no room")); h.answer.User != "" {
		t.Errorf("where nothing is recorded, the user is told %q", h.answer.User)
	}
}

// An agent whose tokens can't be counted is reminded once, after many tool calls.
func TestWatch(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	path := filepath.Join(t.TempDir(), "none.jsonl") // tokens can't be counted
	calls := func(name string, n int) bool {
		return l.event(0, hooks.Payload{Name: name, SessionID: "one", TranscriptPath: path, ToolCalls: n}).Model != ""
	}
	most := l.hook(0, hooks.Payload{}).open().Settings.Context.FallbackToolCount
	for _, tt := range []struct {
		name string
		n    int
		want bool
	}{
		{"PostToolBatch", most - 1, false},
		{"PostToolUse", 0, false},
		{"PostToolBatch", 1, false},
		{"PostToolBatch", 1, false},
		{"PostToolBatch", 1, false},
		{"PostToolBatch", 1, true},
		{"PostToolBatch", most, false},
	} {
		if got := calls(tt.name, tt.n); got != tt.want {
			t.Errorf("after %d calls (%s) the agent is told: %t", tt.n, tt.name, got)
		}
	}
}
