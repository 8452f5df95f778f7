package pusher_test

import (
	"errors"
	"fmt"
	"testing"

	"gitagent/internal/pusher"
	"gitagent/internal/record"
	"gitagent/test/gittest"
	"gitagent/test/remotelab"
)

// withdrawal looks at the remote for missions.
func withdrawal(c *remotelab.Clone, ids ...record.ID) *pusher.Deletion {
	c.T.Helper()
	w, err := pusher.Deletable(c.T.Context(), c.Origin(), ids)
	if err != nil {
		c.T.Fatal(err)
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
			host := remotelab.NewHost(t)
			host.Git("config", "receive.advertiseAtomic", fmt.Sprint(atomic))
			here, there := remotelab.CloneOf(t, host.Dir), remotelab.CloneOf(t, host.Dir)
			ids := []record.ID{"a1b2c3d4", "b1b2c3d4", "c1b2c3d4", "d1b2c3d4"}
			for _, id := range ids[:3] {
				here.Turn(id, "one")
			}
			here.PushAll()
			there.Fetch()
			there.Turn(ids[1], "two")
			there.Push(ids[1])

			w := withdrawal(here, ids...)
			remotelab.Equal(t, "missions", w.Missions, []record.ID{ids[0], ids[2]})
			remotelab.Equal(t, "ahead", w.Ahead, []record.ID{ids[1]})
			if w.Refs() != 4 {
				t.Errorf("%d refs, want 4", w.Refs())
			}
			there.Turn(ids[2], "meanwhile")
			there.Push(ids[2])
			gone, err := pusher.Delete(t.Context(), here.Origin(), w)
			if !errors.Is(err, pusher.ErrRejected) {
				t.Errorf("error %v", err)
			}
			remotelab.Equal(t, "gone", gone, ids[:1])
			if refs := remotelab.AgentRefs(host); len(refs) != 4 || refs[ids[0].Ref()] != "" {
				t.Errorf("the host has %v", refs)
			}

			here.Fetch()
			gone, err = pusher.Delete(t.Context(), here.Origin(), withdrawal(here, ids...))
			if err != nil {
				t.Error(err)
			}
			remotelab.Equal(t, "gone", gone, ids[1:3])
			if refs := remotelab.AgentRefs(host); len(refs) != 0 {
				t.Errorf("the host has %v", refs)
			}
			remotelab.Equal(t, "nothing there", withdrawal(here, ids...).Missions, nil)
		})
	}
}

// TestWithdrawRefused: a host that lets no branch be deleted keeps the missions that have one.
func TestWithdrawRefused(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	host := remotelab.NewHost(t)
	host.Git("config", "receive.denyDeletes", "true")
	c := remotelab.CloneOf(t, host.Dir)
	c.Git("switch", "-q", "-c", "agent/mission/"+string(remotelab.Mission))
	c.Turn(remotelab.Mission, "one")
	c.Push(remotelab.Mission)
	gone, err := pusher.Delete(t.Context(), c.Origin(), withdrawal(c, remotelab.Mission))
	if !errors.Is(err, pusher.ErrRejected) || len(gone) > 0 {
		t.Errorf("gone %v, error %v", gone, err)
	}
	if refs := remotelab.AgentRefs(host); len(refs) != 3 {
		t.Errorf("the host has %v", refs)
	}
}

// TestWithdrawBranch: a branch at the remote with a commit that is not here keeps its mission there.
func TestWithdrawBranch(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	host := remotelab.NewHost(t)
	here, there := remotelab.CloneOf(t, host.Dir), remotelab.CloneOf(t, host.Dir)
	here.Git("switch", "-q", "-c", "agent/mission/"+string(remotelab.Mission))
	here.Turn(remotelab.Mission, "one")
	here.Push(remotelab.Mission)
	there.Fetch(remotelab.Mission)
	there.Git("switch", "-q", "agent/mission/"+string(remotelab.Mission))
	there.Write("own", "1\n")
	there.Commit("a commit of one's own")
	there.Git("push", "-q", "origin", "HEAD")
	remotelab.Equal(t, "ahead", withdrawal(here, remotelab.Mission).Ahead, []record.ID{remotelab.Mission})
	here.Git("fetch", "-q", "origin")
	remotelab.Equal(t, "ahead", withdrawal(here, remotelab.Mission).Ahead, []record.ID{remotelab.Mission})
	remotelab.Equal(t, "missions", withdrawal(there, remotelab.Mission).Missions, []record.ID{remotelab.Mission})
}

// TestWithdrawSides: of a mission that diverged both chains go at the remote, whichever has the name there.
func TestWithdrawSides(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	host := remotelab.NewHost(t)
	here, there := remotelab.CloneOf(t, host.Dir), remotelab.CloneOf(t, host.Dir)
	here.Turn(remotelab.Mission, "one")
	here.PushAll()
	there.Fetch()
	there.Turn(remotelab.Mission, "two there")
	there.PushAll()
	here.Turn(remotelab.Mission, "two here")
	here.PushAll()
	here.Fetch()
	var ids []record.ID
	for id := range here.Sides() {
		ids = append(ids, id)
	}
	w := withdrawal(here, ids...)
	if len(w.Missions) != 2 || w.Refs() != 4 {
		t.Errorf("%v with %d refs of %v, want two with 4", w.Missions, w.Refs(), ids)
	}
	if _, err := pusher.Delete(t.Context(), here.Origin(), w); err != nil {
		t.Error(err)
	}
	if refs := remotelab.AgentRefs(host); len(refs) > 0 {
		t.Errorf("the host has %v", refs)
	}
}
