package fetcher_test

import (
	"testing"

	"gitagent/internal/fetcher"
	"gitagent/internal/remote"
	"gitagent/test/remotelab"
)

// TestAdopt: a branch arrives without its ledger; the beginning of a session fetches that, so that
// the numbering goes on.
func TestAdopt(t *testing.T) {
	t.Parallel()
	host := remotelab.NewHost(t)
	here, there := remotelab.CloneOf(t, host.Dir), remotelab.CloneOf(t, host.Dir)
	adopt := func(c *remotelab.Clone) string {
		t.Helper()
		id, err := fetcher.OfBranch(t.Context(), c.Workspace())
		if err != nil {
			t.Fatal(err)
		}
		return string(id)
	}
	here.Git("switch", "-qc", "agent/mission/a1b2c3d4")
	if got := adopt(here); got != "" {
		t.Errorf("adopted %s, which no remote has", got)
	}
	here.Turn(remotelab.Mission, "one")
	here.Turn(remotelab.Mission, "two")
	here.Push(remotelab.Mission)

	if got := adopt(there); got != "" {
		t.Errorf("adopted %s on main", got)
	}
	there.Git("fetch", "-q")
	there.Git("switch", "-q", "agent/mission/a1b2c3d4")
	before := there.Git("rev-parse", "HEAD")
	there.Git("config", "--unset", remote.ConsentKey(host.Dir))
	if got := adopt(there); got != "" {
		t.Errorf("adopted %s from a remote that nobody has agreed to", got)
	}
	there.Agree(host.Dir, "code")
	if got := adopt(there); got != "a1b2c3d4" {
		t.Errorf("adopted %q", got)
	}
	if got := adopt(there); got != "" {
		t.Errorf("adopted %s again", got)
	}
	if got := there.Git("rev-parse", "HEAD"); got != before {
		t.Errorf("HEAD moved to %s", got)
	}
	if turn := there.Turn(remotelab.Mission, "three"); turn.Turn != 3 {
		t.Errorf("it goes on with turn %d", turn.Turn)
	}
	there.Agree(host.Dir, "all")
	there.Push(remotelab.Mission)
	remotelab.Equal(t, "fetch", here.Fetch(), []string{"a1b2c3d4 forward"})
	remotelab.Equal(t, "turns", here.Prompts(remotelab.Mission), []string{"one", "two", "three"})
}
