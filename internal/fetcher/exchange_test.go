package fetcher_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"gitagent/internal/fetcher"
	"gitagent/internal/git"
	"gitagent/internal/missionstore"
	"gitagent/internal/record"
	"gitagent/test/gittest"
	"gitagent/test/remotelab"
)

// TestThere: a mission goes to the remote, to another clone, on from there, and back.
func TestThereAndBack(t *testing.T) {
	t.Parallel()
	host := remotelab.NewHost(t)
	here, there := remotelab.CloneOf(t, host.Dir), remotelab.CloneOf(t, host.Dir)
	here.Turn(remotelab.Mission, "one")
	if p := here.Push(remotelab.Mission); !p.Sent || p.As != remotelab.Mission || p.Branch != nil {
		t.Errorf("the first push: %+v", p)
	}
	if p := here.Push(remotelab.Mission); p.Sent {
		t.Errorf("nothing was to be sent: %+v", p)
	}
	want := remotelab.RefsOf(here.Repo, "refs/agent/", "refs/notes/")
	if got := remotelab.AgentRefs(host); !maps.Equal(got, want) {
		t.Errorf("the host has %v, want %v", got, want)
	}
	remotelab.Equal(t, "fetch", there.Fetch(), []string{"a1b2c3d4 new"})
	remotelab.Equal(t, "fetch again", there.Fetch(), nil)
	there.Turn(remotelab.Mission, "two")
	there.Push(remotelab.Mission)
	remotelab.Equal(t, "fetch of one", here.Fetch(remotelab.Mission), []string{"a1b2c3d4 forward"})
	remotelab.Equal(t, "turns", here.Prompts(remotelab.Mission), []string{"one", "two"})
	for _, c := range []*remotelab.Clone{here, there} {
		if got, want := remotelab.AgentRefs(c.Repo), remotelab.AgentRefs(host); !maps.Equal(got, want) {
			t.Errorf("a clone has %v, want %v", got, want)
		}
		c.Git("fsck", "--strict", "--no-dangling")
	}
	for _, c := range []*remotelab.Clone{here, there} {
		remotelab.Equal(t, "notes", c.Notes(remotelab.Mission), []string{"a1b2c3d4/1 one", "a1b2c3d4/2 two"})
	}
}

// TestSides: two clones continue one mission. Nothing is overwritten, and everybody gets
// everything.
func TestSides(t *testing.T) {
	t.Parallel()
	host := remotelab.NewHost(t)
	a, b := remotelab.CloneOf(t, host.Dir), remotelab.CloneOf(t, host.Dir)
	a.Turn(remotelab.Mission, "common")
	a.Push(remotelab.Mission)
	b.Fetch()
	a.Turn(remotelab.Mission, "by a")
	sideA := record.ID(a.Git("rev-parse", remotelab.Mission.Ref())[:12])
	a.Turn(remotelab.Mission, "by a, again")
	b.Turn(remotelab.Mission, "by b")
	sideB := record.ID(b.Git("rev-parse", remotelab.Mission.Ref())[:12])
	a.Push(remotelab.Mission)
	before := b.Git("rev-parse", remotelab.Mission.Ref())
	if p := b.Push(remotelab.Mission); p.As != sideB || !p.Sent {
		t.Errorf("b pushes %+v, want as %s", p, sideB)
	}
	remotelab.Equal(t, "b fetches", b.Fetch(), []string{string(sideA) + " side of a1b2c3d4"})
	remotelab.Equal(t, "b fetches again", b.Fetch(), nil)
	remotelab.Equal(t, "a fetches", a.Fetch(), []string{string(sideB) + " new"})
	if got := b.Git("rev-parse", remotelab.Mission.Ref()); got != before {
		t.Errorf("b's mission moved from %s to %s", before, got)
	}
	b.Turn(remotelab.Mission, "by b, again")
	remotelab.Equal(t, "b fetches its own side as it was", b.Fetch(), nil)
	b.Push(remotelab.Mission)
	remotelab.Equal(t, "a fetches", a.Fetch(), []string{string(sideB) + " forward"})
	b.PushAll()
	a.PushAll()
	remotelab.Equal(t, "b fetches", b.Fetch(), nil)
	remotelab.Equal(t, "a fetches", a.Fetch(), nil)
	for _, c := range []*remotelab.Clone{a, b} {
		remotelab.Equal(t, "ledgers", remotelab.LedgerTips(c.Repo), remotelab.LedgerTips(host))
	}
	remotelab.Equal(t, "a's side at b", b.Prompts(sideA), []string{"common", "by a", "by a, again"})
	remotelab.Equal(t, "b's side at a", a.Prompts(sideB), []string{"common", "by b", "by b, again"})
}

// TestSidesOfArchived: a mission is archived that has turns which no remote has. A fetch brings nothing under its name that
// would hide them: what is there is older, went on elsewhere, or is the same under another name.
func TestSidesOfArchived(t *testing.T) {
	t.Parallel()
	host := remotelab.NewHost(t)
	a, b := remotelab.CloneOf(t, host.Dir), remotelab.CloneOf(t, host.Dir)
	archive := func() {
		t.Helper()
		done, err := missionstore.Archive(t.Context(), a.Workspace(), []record.ID{remotelab.Mission}, nil, false)
		if err != nil || len(done.Done) != 1 {
			t.Fatalf("%+v, %v", done, err)
		}
	}
	a.Turn(remotelab.Mission, "common")
	a.Push(remotelab.Mission)
	b.Fetch()
	a.Turn(remotelab.Mission, "by a")
	sideA := record.ID(a.Git("rev-parse", remotelab.Mission.Ref())[:12])
	archive()
	remotelab.Equal(t, "a fetches what is older", a.Fetch(), nil)
	b.Turn(remotelab.Mission, "by b")
	sideB := record.ID(b.Git("rev-parse", remotelab.Mission.Ref())[:12])
	b.Push(remotelab.Mission)
	remotelab.Equal(t, "a fetches what went on", a.Fetch(), []string{string(sideB) + " side of a1b2c3d4"})
	remotelab.Equal(t, "a fetches again", a.Fetch(), nil)
	_, err := missionstore.Unarchive(t.Context(), a.Workspace(), []record.ID{remotelab.Mission})
	gittest.Must(t, err)
	remotelab.Equal(t, "a's mission", a.Prompts(remotelab.Mission), []string{"common", "by a"})
	if p := a.Push(remotelab.Mission); p.As != sideA {
		t.Errorf("a pushes %+v, want as %s", p, sideA)
	}
	archive()
	remotelab.Equal(t, "a fetches its own", a.Fetch(), nil)
}

// TestPackedRefsLocked: a git killed while it deleted a ref has left a lock that only the user may
// remove. A fetch still works, and what it can't remove is never taken for a mission.
func TestPackedRefsLocked(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	host := remotelab.NewHost(t)
	here, there := remotelab.CloneOf(t, host.Dir), remotelab.CloneOf(t, host.Dir)
	there.RefFiles()
	here.Turn(remotelab.Mission, "one")
	here.Push(remotelab.Mission)
	lock := filepath.Join(there.Dir, ".git", "packed-refs.lock")
	landed := func() map[string]string { return remotelab.RefsOf(there.Repo, "refs/agent/remotes/") }

	there.Write(".git/packed-refs.lock", "")
	remotelab.Equal(t, "fetch", there.Fetch(), []string{"a1b2c3d4 new"})
	if left, err := landed(), fetcher.Left(t.Context(), there.Origin()); len(left) > 0 || err != nil {
		t.Errorf("what was fetched is still there: %v, %v", left, err)
	}

	// Fetches were killed after bringing refs that the remote no longer has, and then all refs were
	// packed.
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{"missions/a1b2c3d5", "KILLED/missions/a1b2c3d6"} {
		there.Git("update-ref", "refs/agent/remotes/origin/"+ref, remotelab.Mission.Ref())
	}
	there.Git("pack-refs", "--all")
	there.Write(".git/packed-refs.lock", "")
	here.Turn(remotelab.Mission, "two")
	here.Push(remotelab.Mission)
	remotelab.Equal(t, "fetch with old refs", there.Fetch(), []string{"a1b2c3d4 forward"})
	changes, err := fetcher.Fetch(t.Context(), there.Origin(), "a1b2c3d5")
	if len(changes) > 0 || !errors.Is(err, git.ErrNotFound) {
		t.Errorf("fetch of what the remote does not have: %v, %v", changes, err)
	}
	var locked *git.LockedError
	if err := fetcher.Left(t.Context(), there.Origin()); !errors.As(err, &locked) || locked.Path != lock {
		t.Errorf("of %v is said: %v", landed(), err)
	}
	if _, err := os.Lstat(lock); err != nil {
		t.Error(err)
	}

	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	remotelab.Equal(t, "fetch without the lock", there.Fetch(), nil)
	if left := landed(); len(left) > 0 {
		t.Errorf("what was fetched is still there: %v", left)
	}
}
