package command

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"gitagent/internal/session"
	"gitagent/test/gittest"
)

// TestClient: a registration is of the process that made it, and not of another that got its number later.
func TestClient(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("CLAUDE_CONFIG_DIR", dir)
	gittest.Must(t, os.Mkdir(filepath.Join(dir, "sessions"), 0o700))
	parent := session.ReadClient(os.Getppid())
	for start, want := range map[string]bool{parent.Start: true, parent.Start + "1": false} {
		content := fmt.Sprintf(`{"pid":%d,"sessionId":"5e550000-0000-4000-8000-000000000001","procStart":%q}`, parent.PID, start)
		gittest.Must(t, os.WriteFile(filepath.Join(dir, "sessions", fmt.Sprint(parent.PID, ".json")), []byte(content), 0o600))
		if got := client(t.Context()).PID == parent.PID; got != want {
			t.Errorf("registered with start %s, the process of start %s is a client: %t", start, parent.Start, got)
		}
	}
}

// TestClientAlone: what can't be read of other clients keeps none from being seen.
func TestClientAlone(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("CLAUDE_CONFIG_DIR", dir)
	t.Setenv("CODEX_HOME", dir)
	gittest.Must(t, os.Mkdir(filepath.Join(dir, "sessions"), 0o700))
	gittest.Must(t, os.WriteFile(filepath.Join(dir, "thread-writer-locks"), nil, 0o600)) // no directory
	parent := session.ReadClient(os.Getppid())
	content := fmt.Sprintf(`{"pid":%d,"sessionId":"5e550000-0000-4000-8000-000000000001","procStart":%q}`, parent.PID, parent.Start)
	gittest.Must(t, os.WriteFile(filepath.Join(dir, "sessions", fmt.Sprint(parent.PID, ".json")), []byte(content), 0o600))
	if got := client(t.Context()); got.PID != parent.PID {
		t.Errorf("the client is process %d, want %d", got.PID, parent.PID)
	}
}
