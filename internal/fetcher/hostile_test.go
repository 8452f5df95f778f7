package fetcher_test

import (
	"fmt"
	"maps"
	"testing"

	"gitagent/internal/fetcher"
	"gitagent/test/gittest"
	"gitagent/test/remotelab"
)

// TestHostileRemote: a ref that is not a mission does not become one, is not kept anywhere, and
// does not keep other missions from arriving.
func TestHostileRemote(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	host := remotelab.NewHost(t)
	here, there := remotelab.CloneOf(t, host.Dir), remotelab.CloneOf(t, host.Dir)
	here.Turn(remotelab.Mission, "one")
	here.Push(remotelab.Mission)
	feed := func(stdin string, args ...string) string {
		t.Helper()
		out, err := host.Feed(stdin, args...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	host.Git("config", "user.name", "Dev")
	blob := feed("hello\n", "hash-object", "-w", "--stdin")
	head := func(content string) string {
		b := feed(content, "hash-object", "-w", "--stdin")
		tree := feed(fmt.Sprintf("100644 blob %s\tmission.json\n", b), "mktree")
		return host.Git("commit-tree", "-m", "x", tree)
	}
	newer := head(`{"v":2,"id":"00000002"}`)
	for name, hash := range map[string]string{
		"missions/00000001": host.Git("rev-parse", "main"), // no mission.json
		"missions/00000002": newer,
		"missions/00000003": head("not JSON"),
		"missions/00000004": head(`{"v":1,"id":"../../x"}`),
		"missions/00000005": host.Git("rev-parse", "main^{tree}"),
		"missions/00000006": blob,
		"missions/nonsense": newer,
		"missions/0000000":  newer,
		"missions/ABCDEF01": newer,
		"remotes/origin/x":  newer,
		"other":             newer,
	} {
		host.Git("update-ref", "refs/agent/"+name, hash)
	}
	host.Git("update-ref", "refs/notes/agent/a1b2c3d5", newer) // notes without a mission
	changes, err := fetcher.Fetch(t.Context(), there.Origin())
	if err == nil || len(changes) != 1 || changes[0].Mission != remotelab.Mission {
		t.Errorf("fetch: %v, %v", changes, err)
	}
	if got, want := remotelab.AgentRefs(there.Repo), remotelab.AgentRefs(here.Repo); !maps.Equal(got, want) {
		t.Errorf("there are %v, want %v", got, want)
	}
	if _, err := fetcher.Fetch(t.Context(), there.Origin(), "00000002"); err == nil {
		t.Error("a mission of a newer version was fetched")
	}
	if got, want := remotelab.AgentRefs(there.Repo), remotelab.AgentRefs(here.Repo); !maps.Equal(got, want) {
		t.Errorf("there are %v, want %v", got, want)
	}
}
