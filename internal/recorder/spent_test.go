package recorder_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gitagent/internal/recorder"
	"gitagent/internal/usage"
	"gitagent/test/gittest"
	"gitagent/test/lab"
)

// TestSpent: a client keeps how much a session took beside its conversation. A turn took what the session's turns before it
// did not, also when it is recorded again.
func TestSpent(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	path := filepath.Join(t.TempDir(), "12345678-0000-4000-8000-0000000000aa.jsonl")
	w := l.Workspace(l.Dir)
	file := `{"type":"session_start","id":"s","cwd":"/home/dev/x"}` + "\n"
	at := time.Date(2026, 11, 29, 9, 0, 0, 0, time.UTC)
	for i, tt := range []struct {
		prompt            string
		sum, last         int64 // what the client says
		turn, took, wants int   // the turn, what it took, and the last request's size
	}{
		{"a", 100, 60, 1, 100, 61},
		{"b", 250, 70, 2, 150, 71},
		{"b", 400, 80, 2, 300, 81}, // it went on after its end
		{"c", 900, 90, 3, 500, 91},
		{"d", 1000, 100, 4, 100, 101},
	} {
		again := i == 2
		if !again {
			file += fmt.Sprintf(`{"type":"message","id":"%s","timestamp":"2026-11-29T09:00:0%dZ","message":{"role":"user","content":"%[1]s"}}`+"\n", tt.prompt, i)
		}
		file += fmt.Sprintf(`{"type":"message","id":"m%d","timestamp":"2026-11-29T09:00:0%[1]dZ","message":{"role":"assistant","modelId":"m","content":"done %[1]d"}}`+"\n", i)
		gittest.Must(t, os.WriteFile(path, []byte(file), 0o600))
		settings := fmt.Sprintf(`{"tokenUsage":{"inputTokens":%d,"outputTokens":%d},"lastCallTokenUsage":{"inputTokens":%d,"cacheReadTokens":1}}`, tt.sum, tt.sum/10, tt.last)
		gittest.Must(t, os.WriteFile(path[:len(path)-len(".jsonl")]+".settings.json", []byte(settings), 0o600))
		at = at.Add(time.Minute)
		s := recorder.Signal{
			Event: recorder.Stopped, At: at, Agent: "droid", Session: "12345678-0000-4000-8000-0000000000aa", PromptID: tt.prompt, Transcript: path, Again: again, Reply: fmt.Sprint(i),
		}
		r, err := recorder.Record(t.Context(), w, s)
		gittest.Must(t, err)
		if len(r.Turns) != 1 || r.Turns[0].Turn != tt.turn {
			t.Fatalf("%d: recorded are %+v", i, r.Turns)
		}
		got := r.Turns[0]
		if want := (usage.Tokens{Input: int64(tt.took), Output: int64(tt.took / 10)}); got.Tokens["m"] != want || got.Output != want.Output || got.Context != int64(tt.wants) {
			t.Errorf("turn %d took %v, %d of %d, want %v of %d", got.Turn, got.Tokens, got.Output, got.Context, want, tt.wants)
		}
		// The next turn looks at no record of those before it.
		last := w.Store.Load(s.Session).Last
		if want := (usage.Tokens{Input: tt.sum, Output: tt.sum / 10}); last.Spent == nil || *last.Spent != want {
			t.Errorf("after turn %d the session took %v, want %v", got.Turn, last.Spent, want)
		}
	}
}
