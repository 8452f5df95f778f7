package remote_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"gitagent/internal/git"
	"gitagent/internal/record"
	"gitagent/internal/remote"
	"gitagent/test/gittest"
)

// TestThere: a mission goes to the remote, to another clone, on from there, and back.
func TestThereAndBack(t *testing.T) {
	t.Parallel()
	host := newHost(t)
	here, there := cloneOf(t, host.Dir), cloneOf(t, host.Dir)
	here.turn(mission, "one")
	if p := here.push(mission); !p.Sent || p.As != mission || p.Branch != nil {
		t.Errorf("the first push: %+v", p)
	}
	if p := here.push(mission); p.Sent {
		t.Errorf("nothing was to be sent: %+v", p)
	}
	want := refsOf(here.Repo, "refs/agent/", "refs/notes/")
	if got := agentRefs(host); !maps.Equal(got, want) {
		t.Errorf("the host has %v, want %v", got, want)
	}
	equal(t, "fetch", there.fetch(), []string{"a1b2c3d4 new"})
	equal(t, "fetch again", there.fetch(), nil)
	there.turn(mission, "two")
	there.push(mission)
	equal(t, "fetch of one", here.fetch(mission), []string{"a1b2c3d4 forward"})
	equal(t, "turns", here.prompts(mission), []string{"one", "two"})
	for _, c := range []*clone{here, there} {
		if got, want := agentRefs(c.Repo), agentRefs(host); !maps.Equal(got, want) {
			t.Errorf("a clone has %v, want %v", got, want)
		}
		c.Git("fsck", "--strict", "--no-dangling")
	}
	for _, c := range []*clone{here, there} {
		equal(t, "notes", c.notes(mission), []string{"a1b2c3d4/1 one", "a1b2c3d4/2 two"})
	}
}

// TestSides: two clones continue one mission. Nothing is overwritten, and everybody gets
// everything.
func TestSides(t *testing.T) {
	t.Parallel()
	host := newHost(t)
	a, b := cloneOf(t, host.Dir), cloneOf(t, host.Dir)
	a.turn(mission, "common")
	a.push(mission)
	b.fetch()
	a.turn(mission, "by a")
	sideA := record.ID(a.Git("rev-parse", mission.Ref())[:12])
	a.turn(mission, "by a, again")
	b.turn(mission, "by b")
	sideB := record.ID(b.Git("rev-parse", mission.Ref())[:12])
	a.push(mission)
	before := b.Git("rev-parse", mission.Ref())
	if p := b.push(mission); p.As != sideB || !p.Sent {
		t.Errorf("b pushes %+v, want as %s", p, sideB)
	}
	equal(t, "b fetches", b.fetch(), []string{string(sideA) + " side of a1b2c3d4"})
	equal(t, "b fetches again", b.fetch(), nil)
	equal(t, "a fetches", a.fetch(), []string{string(sideB) + " new"})
	if got := b.Git("rev-parse", mission.Ref()); got != before {
		t.Errorf("b's mission moved from %s to %s", before, got)
	}
	b.turn(mission, "by b, again")
	equal(t, "b fetches its own side as it was", b.fetch(), nil)
	b.push(mission)
	equal(t, "a fetches", a.fetch(), []string{string(sideB) + " forward"})
	b.pushAll()
	a.pushAll()
	equal(t, "b fetches", b.fetch(), nil)
	equal(t, "a fetches", a.fetch(), nil)
	for _, c := range []*clone{a, b} {
		equal(t, "ledgers", ledgerTips(c.Repo), ledgerTips(host))
	}
	equal(t, "a's side at b", b.prompts(sideA), []string{"common", "by a", "by a, again"})
	equal(t, "b's side at a", a.prompts(sideB), []string{"common", "by b", "by b, again"})
}

// TestPackedRefsLocked: a git killed while it deleted a ref has left a lock that only the user may
// remove. A fetch still works, and what it can't remove is never taken for a mission.
func TestPackedRefsLocked(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	host := newHost(t)
	here, there := cloneOf(t, host.Dir), cloneOf(t, host.Dir)
	there.RefFiles()
	here.turn(mission, "one")
	here.push(mission)
	lock := filepath.Join(there.Dir, ".git", "packed-refs.lock")
	landed := func() map[string]string { return refsOf(there.Repo, "refs/agent/remotes/") }

	there.Write(".git/packed-refs.lock", "")
	equal(t, "fetch", there.fetch(), []string{"a1b2c3d4 new"})
	if left, err := landed(), remote.Left(t.Context(), there.origin()); len(left) > 0 || err != nil {
		t.Errorf("what was fetched is still there: %v, %v", left, err)
	}

	// Fetches were killed after bringing refs that the remote no longer has, and then all refs were
	// packed.
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{"missions/a1b2c3d5", "KILLED/missions/a1b2c3d6"} {
		there.Git("update-ref", "refs/agent/remotes/origin/"+ref, mission.Ref())
	}
	there.Git("pack-refs", "--all")
	there.Write(".git/packed-refs.lock", "")
	here.turn(mission, "two")
	here.push(mission)
	equal(t, "fetch with old refs", there.fetch(), []string{"a1b2c3d4 forward"})
	changes, err := remote.Fetch(t.Context(), there.origin(), "a1b2c3d5")
	if len(changes) > 0 || !errors.Is(err, git.ErrNotFound) {
		t.Errorf("fetch of what the remote does not have: %v, %v", changes, err)
	}
	var locked *git.LockedError
	if err := remote.Left(t.Context(), there.origin()); !errors.As(err, &locked) || locked.Path != lock {
		t.Errorf("of %v is said: %v", landed(), err)
	}
	if _, err := os.Lstat(lock); err != nil {
		t.Error(err)
	}

	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	equal(t, "fetch without the lock", there.fetch(), nil)
	if left := landed(); len(left) > 0 {
		t.Errorf("what was fetched is still there: %v", left)
	}
}
