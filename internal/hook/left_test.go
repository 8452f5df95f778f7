package hook

import (
	"context"
	"testing"
	"time"

	"gitagent/internal/limit"
	"gitagent/internal/recorder"
	testlab "gitagent/test/lab"
	"gitagent/test/replay"
)

// A prompt removes what a killed process of ours left, before it is recorded.
func TestPromptClearsLeft(t *testing.T) {
	t.Parallel()
	l := testlab.New(t)
	l.Leave("mission-00", ".git/HEAD")
	err := prompted(t.Context(), l)
	if left := l.Locked(); err != nil || len(left) > 0 {
		t.Errorf("left are %q, %v", left, err)
	}
}

// It waits no longer for a lock that may be in use than a recording may take.
func TestPromptClearsWithinLimit(t *testing.T) {
	t.Parallel()
	l := testlab.New(t)
	l.Leave("config", ".git/info/")
	l.Write(".git/info/x.lock", "")
	l.Age(".git/info/x.lock", -time.Hour)                             // of the future: it looks new
	_ = prompted(limit.With(t.Context(), limit.Limits{Record: 1}), l) // which may be too slow for this
	if left := l.Locked(); len(left) != 1 {
		t.Errorf("left are %q", left)
	}
}

func prompted(ctx context.Context, l *testlab.Lab) error {
	_, err := recordPrompt(ctx, l.Workspace(l.Dir), recorder.Signal{
		Event: recorder.Prompted, At: time.Now(), Agent: "claude-code", Session: replay.NewID(), Prompt: "go on",
	})
	return err
}
