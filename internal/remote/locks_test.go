package remote_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"gitagent/internal/remote"
	"gitagent/test/gittest"
)

// TestStaleLocks: a killed git has left locks where a fetch lands and on the refs that it moves.
// They are removed, but the lock of a branch is not ours to remove.
func TestStaleLocks(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	host := newHost(t)
	here, there := cloneOf(t, host.Dir), cloneOf(t, host.Dir)
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
	here.turn(mission, "one")
	here.push(mission)
	gone := []string{lock("refs/agent/remotes/origin/missions/a1b2c3d4"), lock("refs/agent/missions/a1b2c3d4"), lock("refs/notes/agent/a1b2c3d4")}
	equal(t, "fetch", there.fetch(), []string{"a1b2c3d4 new"})
	for _, path := range gone {
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s is still there", path)
		}
	}
	stays := lock("refs/heads/agent/mission/a1b2c3d4")
	here.turn(mission, "two")
	here.push(mission)
	if changes, err := remote.Fetch(t.Context(), there.origin(), mission); err == nil || len(changes) != 1 {
		t.Errorf("fetch with a branch that is locked: %v, %v", changes, err)
	}
	equal(t, "turns", there.prompts(mission), []string{"one", "two"})
	if _, err := os.Lstat(stays); err != nil {
		t.Error(err)
	}
}
