package remote_test

import (
	"errors"
	"fmt"
	"testing"

	"gitagent/internal/record"
	"gitagent/internal/remote"
	"gitagent/test/gittest"
)

// withdrawal looks at the remote for missions.
func withdrawal(c *clone, ids ...record.ID) *remote.Deletion {
	c.t.Helper()
	w, err := remote.Deletable(c.t.Context(), c.origin(), ids)
	if err != nil {
		c.t.Fatal(err)
	}
	return w
}

// TestWithdraw: missions go at the remote, and only as they were looked at.
func TestWithdraw(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, atomic := range []bool{true, false} {
		t.Run(fmt.Sprintf("atomic %v", atomic), func(t *testing.T) {
			t.Parallel()
			host := newHost(t)
			host.Git("config", "receive.advertiseAtomic", fmt.Sprint(atomic))
			here, there := cloneOf(t, host.Dir), cloneOf(t, host.Dir)
			ids := []record.ID{"a1b2c3d4", "b1b2c3d4", "c1b2c3d4", "d1b2c3d4"}
			for _, id := range ids[:3] {
				here.turn(id, "one")
			}
			here.pushAll()
			there.fetch()
			there.turn(ids[1], "two")
			there.push(ids[1])

			w := withdrawal(here, ids...)
			equal(t, "missions", w.Missions, []record.ID{ids[0], ids[2]})
			equal(t, "ahead", w.Ahead, []record.ID{ids[1]})
			if w.Refs() != 4 {
				t.Errorf("%d refs, want 4", w.Refs())
			}
			there.turn(ids[2], "meanwhile")
			there.push(ids[2])
			gone, err := remote.Delete(t.Context(), here.origin(), w)
			if !errors.Is(err, remote.ErrRejected) {
				t.Errorf("error %v", err)
			}
			equal(t, "gone", gone, ids[:1])
			if refs := agentRefs(host); len(refs) != 4 || refs[ids[0].Ref()] != "" {
				t.Errorf("the host has %v", refs)
			}

			here.fetch()
			gone, err = remote.Delete(t.Context(), here.origin(), withdrawal(here, ids...))
			if err != nil {
				t.Error(err)
			}
			equal(t, "gone", gone, ids[1:3])
			if refs := agentRefs(host); len(refs) != 0 {
				t.Errorf("the host has %v", refs)
			}
			equal(t, "nothing there", withdrawal(here, ids...).Missions, nil)
		})
	}
}

// TestWithdrawRefused: a host that lets no branch be deleted keeps the missions that have one.
func TestWithdrawRefused(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	host := newHost(t)
	host.Git("config", "receive.denyDeletes", "true")
	c := cloneOf(t, host.Dir)
	c.Git("switch", "-q", "-c", "agent/mission/"+string(mission))
	c.turn(mission, "one")
	c.push(mission)
	gone, err := remote.Delete(t.Context(), c.origin(), withdrawal(c, mission))
	if !errors.Is(err, remote.ErrRejected) || len(gone) > 0 {
		t.Errorf("gone %v, error %v", gone, err)
	}
	if refs := agentRefs(host); len(refs) != 3 {
		t.Errorf("the host has %v", refs)
	}
}

// TestWithdrawBranch: a branch at the remote with a commit that is not here keeps its mission there.
func TestWithdrawBranch(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	host := newHost(t)
	here, there := cloneOf(t, host.Dir), cloneOf(t, host.Dir)
	here.Git("switch", "-q", "-c", "agent/mission/"+string(mission))
	here.turn(mission, "one")
	here.push(mission)
	there.fetch(mission)
	there.Git("switch", "-q", "agent/mission/"+string(mission))
	there.Write("own", "1\n")
	there.Commit("a commit of one's own")
	there.Git("push", "-q", "origin", "HEAD")
	equal(t, "ahead", withdrawal(here, mission).Ahead, []record.ID{mission})
	here.Git("fetch", "-q", "origin")
	equal(t, "ahead", withdrawal(here, mission).Ahead, []record.ID{mission})
	equal(t, "missions", withdrawal(there, mission).Missions, []record.ID{mission})
}
