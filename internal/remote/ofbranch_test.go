package remote_test

import (
	"testing"

	"gitagent/internal/remote"
)

// TestAdopt: a branch arrives without its ledger; the beginning of a session fetches that, so that
// the numbering goes on.
func TestAdopt(t *testing.T) {
	t.Parallel()
	host := newHost(t)
	here, there := cloneOf(t, host.Dir), cloneOf(t, host.Dir)
	adopt := func(c *clone) string {
		t.Helper()
		id, err := remote.FetchOfBranch(t.Context(), c.workspace())
		if err != nil {
			t.Fatal(err)
		}
		return string(id)
	}
	here.Git("switch", "-qc", "agent/mission/a1b2c3d4")
	if got := adopt(here); got != "" {
		t.Errorf("adopted %s, which no remote has", got)
	}
	here.turn(mission, "one")
	here.turn(mission, "two")
	here.push(mission)

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
	there.agree(host.Dir, "code")
	if got := adopt(there); got != "a1b2c3d4" {
		t.Errorf("adopted %q", got)
	}
	if got := adopt(there); got != "" {
		t.Errorf("adopted %s again", got)
	}
	if got := there.Git("rev-parse", "HEAD"); got != before {
		t.Errorf("HEAD moved to %s", got)
	}
	if turn := there.turn(mission, "three"); turn.Turn != 3 {
		t.Errorf("it goes on with turn %d", turn.Turn)
	}
	there.agree(host.Dir, "all")
	there.push(mission)
	equal(t, "fetch", here.fetch(), []string{"a1b2c3d4 forward"})
	equal(t, "turns", here.prompts(mission), []string{"one", "two", "three"})
}
