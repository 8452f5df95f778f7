package pusher_test

import (
	"maps"
	"testing"

	"gitagent/internal/pusher"
	"gitagent/internal/record"
	"gitagent/test/gittest"
	"gitagent/test/remotelab"
)

// TestTwoURLs: a push goes to two repositories, neither of which is fetched from, and one of them
// has another side of the mission, which has a name there of its own.
func TestTwoURLs(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	first, second, upstream := remotelab.NewHost(t), remotelab.NewHost(t), remotelab.NewHost(t)
	a, b := remotelab.CloneOf(t, second.Dir), remotelab.CloneOf(t, second.Dir)
	a.Turn(remotelab.Mission, "common")
	a.Push(remotelab.Mission)
	b.Fetch()
	a.Turn(remotelab.Mission, "by a")
	a.Push(remotelab.Mission)
	b.Turn(remotelab.Mission, "by b")
	side := record.ID(b.Git("rev-parse", remotelab.Mission.Ref())[:12])

	b.Git("remote", "set-url", "origin", upstream.Dir)
	b.Git("config", "remote.origin.pushurl", first.Dir)
	b.Git("config", "--add", "remote.origin.pushurl", second.Dir)
	b.Agree(first.Dir, "all")
	split := b.Origin().Each()
	for i, as := range []record.ID{remotelab.Mission, side} {
		if p, err := pusher.Push(t.Context(), split[i], remotelab.Mission); err != nil || p.As != as || !p.Sent {
			t.Errorf("push to %s: %+v, %v", split[i], p, err)
		}
	}
	b.Turn(remotelab.Mission, "by b, again")
	b.Turn("00000001", "another one")
	b.PushAll()
	want := remotelab.RefsOf(b.Repo, "refs/agent/missions/")
	if got := remotelab.RefsOf(first, "refs/agent/missions/"); !maps.Equal(got, want) {
		t.Errorf("%s has %v, want %v", first.Dir, got, want)
	}
	want[side.Ref()] = want[remotelab.Mission.Ref()]
	want[remotelab.Mission.Ref()] = a.Git("rev-parse", remotelab.Mission.Ref())
	if got := remotelab.RefsOf(second, "refs/agent/missions/"); !maps.Equal(got, want) {
		t.Errorf("%s has %v, want %v", second.Dir, got, want)
	}
	if got := remotelab.RefsOf(upstream, "refs/agent/"); len(got) > 0 {
		t.Errorf("where fetches come from there are %v", got)
	}
	refs := remotelab.AgentRefs(b.Repo)
	b.PushAll()
	if got := remotelab.AgentRefs(b.Repo); !maps.Equal(got, refs) {
		t.Errorf("a push made %v of our refs %v", got, refs)
	}
}
