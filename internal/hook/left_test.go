package hook_test

import (
	"testing"
	"time"

	"gitagent/internal/hook"
	"gitagent/internal/recorder"
	"gitagent/test/lab"
	"gitagent/test/replay"
)

// A prompt removes what a killed process of ours left, before it is recorded.
func TestPromptClearsLeft(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	l.Leave("mission-00", ".git/HEAD")
	_, err := hook.Record(t.Context(), l.Workspace(l.Dir), recorder.Signal{
		Event: recorder.Prompted, At: time.Now(), Agent: "claude-code", Session: replay.NewID(), Prompt: "go on",
	})
	if left := l.Locked(); err != nil || len(left) > 0 {
		t.Errorf("left are %q, %v", left, err)
	}
}
