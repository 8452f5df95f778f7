package fetcher_test

import (
	"maps"
	"testing"

	"gitagent/internal/fetcher"
	"gitagent/test/gittest"
	"gitagent/test/remotelab"
)

// TestBranches: which branches a fetch creates, moves or leaves alone.
func TestBranches(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	const branch = "refs/heads/agent/mission/a1b2c3d4"
	host := remotelab.NewHost(t)
	here := remotelab.CloneOf(t, host.Dir)
	here.Git("switch", "-qc", "agent/mission/a1b2c3d4")
	here.Turn(remotelab.Mission, "one")
	here.Push(remotelab.Mission)
	first := here.Git("rev-parse", "HEAD")

	idle, busy, linked, rebasing, ahead, blocked := remotelab.CloneOf(t, host.Dir), remotelab.CloneOf(t, host.Dir), remotelab.CloneOf(t, host.Dir), remotelab.CloneOf(t, host.Dir), remotelab.CloneOf(t, host.Dir), remotelab.CloneOf(t, host.Dir)
	idle.Fetch()
	if got := remotelab.RefsOf(idle.Repo, branch); len(got) > 0 {
		t.Errorf("a fetch of everything made %v", got)
	}
	for _, c := range []*remotelab.Clone{idle, busy, linked, rebasing, ahead} {
		c.Fetch(remotelab.Mission)
		if got := remotelab.RefsOf(c.Repo, branch)[branch]; got != first {
			t.Errorf("a fetch of the mission made the branch at %q, want %s", got, first)
		}
	}
	busy.Git("switch", "-q", "agent/mission/a1b2c3d4")
	worktree := gittest.TempDir(t) + "/linked"
	linked.Git("worktree", "add", "-q", worktree, "agent/mission/a1b2c3d4")
	rebasing.Git("switch", "-q", "agent/mission/a1b2c3d4")
	if _, err := rebasing.Try("rebase", "-q", "--force-rebase", "--exec", "false", "HEAD~1"); err == nil {
		t.Error("the rebase did not stop")
	}
	ahead.Git("switch", "-q", "agent/mission/a1b2c3d4")
	aheads := ahead.Commit("the user's own")
	ahead.Git("switch", "-q", "main")
	blocked.Git("branch", "agent")

	here.Turn(remotelab.Mission, "two")
	here.Push(remotelab.Mission)
	second := here.Git("rev-parse", "HEAD")
	for _, tt := range []struct {
		name   string
		c      *remotelab.Clone
		want   string
		advice bool
		fails  bool
	}{
		{"nobody has it", idle, second, false, false},
		{"checked out", busy, first, true, false},
		{"checked out in a linked worktree", linked, first, true, false},
		{"in a rebase", rebasing, first, true, false},
		{"gone on", ahead, aheads, true, false},
		{"a branch in the way", blocked, "", false, true},
	} {
		changes, err := fetcher.Fetch(t.Context(), tt.c.Origin(), remotelab.Mission)
		if (err != nil) != tt.fails || len(changes) != 1 || (changes[0].Branch != "") != tt.advice {
			t.Errorf("%s: %+v, %v", tt.name, changes, err)
		}
		if got := remotelab.RefsOf(tt.c.Repo, branch)[branch]; got != tt.want {
			t.Errorf("%s: the branch is at %q, want %q", tt.name, got, tt.want)
		}
		if got, want := remotelab.RefsOf(tt.c.Repo, "refs/agent/", "refs/notes/"), remotelab.RefsOf(here.Repo, "refs/agent/", "refs/notes/"); !maps.Equal(got, want) {
			t.Errorf("%s: there are %v, want %v", tt.name, got, want)
		}
		if status := tt.c.Git("status", "--porcelain"); status != "" {
			t.Errorf("%s: %s", tt.name, status)
		}
	}
}
