package pusher_test

import (
	"maps"
	"testing"

	"gitagent/internal/record"
	"gitagent/test/gittest"
	"gitagent/test/remotelab"
)

// TestTwoURLs: a push goes to two repositories, neither of which is fetched from, and one of them
// has another side of the mission.
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
	if p := b.Push(remotelab.Mission); p.As != side || !p.Sent {
		t.Errorf("push: %+v", p)
	}
	b.Turn(remotelab.Mission, "by b, again")
	b.Turn("00000001", "another one")
	b.PushAll()
	want := remotelab.RefsOf(b.Repo, "refs/agent/missions/")
	want[side.Ref()] = want[remotelab.Mission.Ref()]
	delete(want, remotelab.Mission.Ref())
	for _, host := range []*remotelab.Clone{{Repo: first, T: t}, {Repo: second, T: t}} {
		got := remotelab.RefsOf(host.Repo, "refs/agent/missions/")
		delete(got, remotelab.Mission.Ref()) // the first has ours as it was when the second rejected it, the second has a's
		if !maps.Equal(got, want) {
			t.Errorf("%s has %v, want %v", host.Dir, got, want)
		}
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
