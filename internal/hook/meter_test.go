package hook

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gitagent/hooks"
	"gitagent/internal/journal"
	"gitagent/test/gittest"
)

// TestBegan: the calls of a batch began when the model asked for them. The client may not have written that yet: then it
// was not before the last batch, also of tools that only read, and those of a sub-agent are none of it.
func TestBegan(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	file := filepath.Join(t.TempDir(), "session.jsonl")
	asked := time.Now().Add(-time.Minute).Truncate(time.Millisecond)
	line := `{"type":"assistant","timestamp":%q,"message":{"model":"claude-x","usage":{"input_tokens":9}}}` + "\n"
	gittest.Must(t, os.WriteFile(file, fmt.Appendf(nil, line, asked.UTC().Format(time.RFC3339Nano)), 0o666))
	ran := func(after time.Duration, subagent, command string) {
		t.Helper()
		h := l.hook(0, hooks.Payload{
			Name: "PostToolBatch", SessionID: "one", PromptID: "p", AgentID: subagent, TranscriptPath: file,
			Calls: []hooks.Call{{Tool: "Bash", Command: command}},
		})
		h.at = asked.Add(after)
		gittest.Must(t, watch(t.Context(), h))
	}
	for _, tt := range []struct {
		after             time.Duration
		subagent, command string
		want              time.Duration // after the message; of what leaves an entry
	}{
		{time.Second, "", "make", 0},
		{9 * time.Second, "", "cat pipe", -1},
		{10 * time.Second, "a", "ls", -1},
		{11 * time.Second, "", "make", 9 * time.Second},
		{12 * time.Second, "", "make", 11 * time.Second},
	} {
		ran(tt.after, tt.subagent, tt.command)
		if tt.want < 0 {
			continue
		}
		all, err := journal.Read(l.hook(0, hooks.Payload{}).repo)
		gittest.Must(t, err)
		if got, want := time.UnixMilli(all[len(all)-1].From), asked.Add(tt.want); !got.Equal(want) {
			t.Errorf("after %v: %q began %v after the message, want %v", tt.after, tt.command, got.Sub(asked), tt.want)
		}
	}
}

// TestWindow: a client whose file does not say how much the context holds may say so in the payload.
func TestWindow(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	file := filepath.Join(t.TempDir(), "session.jsonl")
	gittest.Must(t, os.WriteFile(file, []byte(`{"type":"assistant","message":{"model":"m","usage":{"input_tokens":90000}}}`+"\n"), 0o666))
	for _, tt := range []struct {
		session string
		window  int64
		told    bool
	}{{"one", 0, false}, {"two", 100_000, true}} {
		h := l.hook(0, hooks.Payload{
			Name: "PostToolUse", SessionID: tt.session, TranscriptPath: file, Window: tt.window, Calls: []hooks.Call{{Tool: "Bash"}},
		})
		gittest.Must(t, watch(t.Context(), h))
		if got := h.answer.Model != ""; got != tt.told {
			t.Errorf("with a window of %d, the agent is told %q", tt.window, h.answer.Model)
		}
	}
}
