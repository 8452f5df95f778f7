package gitdiff

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gitagent/internal/git"
	"gitagent/test/gittest"
)

// TestUncommittedRacy: a file that changed at the very time of the index, and looks as it did, is read again.
func TestUncommittedRacy(t *testing.T) {
	at := time.Now().Add(-time.Minute).Truncate(time.Second)
	r := gittest.New(t)
	r.Git("config", "core.trustCtime", "false")
	path := filepath.Join(r.Dir, "file")
	touch := func(path string) {
		t.Helper()
		gittest.Must(t, os.Chtimes(path, at, at))
	}
	r.Write("file", "one\n")
	touch(path)
	r.Commit("first")
	touch(filepath.Join(r.Dir, ".git", "index"))
	r.Write("file", "two\n")
	touch(path)

	repo, err := git.Find(r.Dir)
	gittest.Must(t, err)
	u, err := NewUncommitted(context.Background(), repo, "file")
	gittest.Must(t, err)
	defer u.Close()
	if got := blamed(t, u.Repo, BlameOptions{Commit: u.Commit, Path: "file"}); len(got) != 1 || got[0] != "not committed yet|file|1|two" {
		t.Errorf("blame %q", got)
	}
}
