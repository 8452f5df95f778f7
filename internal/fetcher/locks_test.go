package fetcher_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"gitagent/internal/fetcher"
	"gitagent/test/gittest"
	"gitagent/test/remotelab"
)

// TestStaleLocks: a killed git has left locks where a fetch lands and on the refs that it moves.
// They are removed, but the lock of a branch is not ours to remove.
func TestStaleLocks(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	host := remotelab.NewHost(t)
	here, there := remotelab.CloneOf(t, host.Dir), remotelab.CloneOf(t, host.Dir)
	there.RefFiles()
	lock := func(ref string) string {
		path := filepath.Join(there.Dir, ".git", filepath.FromSlash(ref)+".lock")
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		old := time.Now().Add(-time.Minute)
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
		return path
	}
	here.Git("switch", "-qc", "agent/mission/a1b2c3d4")
	here.Turn(remotelab.Mission, "one")
	here.Push(remotelab.Mission)
	gone := []string{lock("refs/agent/remotes/origin/missions/a1b2c3d4"), lock("refs/agent/missions/a1b2c3d4"), lock("refs/notes/agent/a1b2c3d4")}
	remotelab.Equal(t, "fetch", there.Fetch(), []string{"a1b2c3d4 new"})
	for _, path := range gone {
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s is still there", path)
		}
	}
	stays := lock("refs/heads/agent/mission/a1b2c3d4")
	here.Turn(remotelab.Mission, "two")
	here.Push(remotelab.Mission)
	if changes, err := fetcher.Fetch(t.Context(), there.Origin(), remotelab.Mission); err == nil || len(changes) != 1 {
		t.Errorf("fetch with a branch that is locked: %v, %v", changes, err)
	}
	remotelab.Equal(t, "turns", there.Prompts(remotelab.Mission), []string{"one", "two"})
	if _, err := os.Lstat(stays); err != nil {
		t.Error(err)
	}
}
