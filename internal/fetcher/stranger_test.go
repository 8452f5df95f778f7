package fetcher_test

import (
	"path/filepath"
	"testing"

	"gitagent/internal/fetcher"
	"gitagent/test/gittest"
	"gitagent/test/remotelab"
)

// extend adds an event to a mission's ledger at the host, in the user's name and without his key.
func extend(c *remotelab.Clone, host *gittest.Repo, ref, file, content string) (tip string) {
	w := host.In(host.Dir)
	w.Env = append(w.Env[:len(w.Env):len(w.Env)], "GIT_INDEX_FILE="+filepath.Join(c.T.TempDir(), "index"))
	hash, err := w.Feed(content, "hash-object", "-w", "--stdin")
	if err != nil {
		c.T.Fatal(err)
	}
	w.Git("read-tree", ref)
	w.Git("update-index", "--add", "--cacheinfo", "100644,"+hash+","+file)
	w.Git("update-ref", ref, w.Git("commit-tree", "-m", "turn 2", "-p", ref, w.Git("write-tree")))
	return w.Git("rev-parse", ref)
}

// What somebody without a key adds to a mission at the host moves no ref of ours, neither the
// ledger's nor the branch's, and is there under another name. Fetching again changes nothing but that.
func TestContinuedByStranger(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	const ledger, branch = "refs/agent/missions/a1b2c3d4", "refs/heads/agent/mission/a1b2c3d4"
	host := remotelab.NewHost(t)
	here := remotelab.CloneOf(t, host.Dir)
	here.Git("switch", "-qc", "agent/mission/a1b2c3d4")
	here.Turn(remotelab.Mission, "one")
	here.Push(remotelab.Mission)
	here.Git("switch", "-q", "main")
	before := remotelab.RefsOf(here.Repo, "refs/agent/", "refs/heads/")

	// Only the branch goes on.
	eve := host.Git("commit-tree", "-m", "evil", "-p", branch, branch+"^{tree}")
	host.Git("update-ref", branch, eve)
	changes, err := fetcher.Fetch(t.Context(), here.Origin(), remotelab.Mission)
	if err != nil || len(changes) != 1 || changes[0].Branch == "" {
		t.Errorf("%+v, %v, want advice about the branch", changes, err)
	}
	if got := remotelab.RefsOf(here.Repo, "refs/agent/", "refs/heads/"); got[branch] != before[branch] || got[ledger] != before[ledger] {
		t.Errorf("there are %v, want %v", got, before)
	}

	// The ledger does, twice.
	for i, content := range []string{"{}\n", "{}\n{}\n"} {
		tip := extend(here, host, ledger, "transcript/0000/000001.jsonl", content)
		changes, err = fetcher.Fetch(t.Context(), here.Origin())
		if err != nil || len(changes) != 1 || !changes[0].Foreign {
			t.Fatalf("%d: %+v, %v, want a stranger's mission", i, changes, err)
		}
		got := remotelab.RefsOf(here.Repo, "refs/agent/", "refs/heads/")
		if got[ledger] != before[ledger] || got[branch] != before[branch] || got["refs/agent/missions/"+string(changes[0].Mission)] != tip {
			t.Errorf("%d: there are %v, want %v and %s as mission %s", i, got, before, tip, changes[0].Mission)
		}
		if len(got) != len(before)+1 {
			t.Errorf("%d: there are %v", i, got)
		}
	}
	if changes := here.Fetch(); len(changes) > 0 {
		t.Errorf("fetched again: %v", changes)
	}

	// Ours goes on all the same, here and, under the name that it has there, at the host.
	here.Turn(remotelab.Mission, "two")
	here.Push(remotelab.Mission)
	if got := here.Prompts(remotelab.Mission); len(got) != 2 {
		t.Errorf("the turns are %q", got)
	}
	other := remotelab.CloneOf(t, host.Dir)
	other.Fetch()
	if got := remotelab.RefsOf(other.Repo, ledger)[ledger]; got == before[ledger] || got == "" {
		t.Errorf("another clone has %q", got)
	}
}
