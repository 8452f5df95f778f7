package remote_test

import (
	"maps"
	"testing"

	"gitagent/internal/record"
	"gitagent/test/gittest"
)

// TestTwoURLs: a push goes to two repositories, neither of which is fetched from, and one of them
// has another side of the mission.
func TestTwoURLs(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	first, second, upstream := newHost(t), newHost(t), newHost(t)
	a, b := cloneOf(t, second.Dir), cloneOf(t, second.Dir)
	a.turn(mission, "common")
	a.push(mission)
	b.fetch()
	a.turn(mission, "by a")
	a.push(mission)
	b.turn(mission, "by b")
	side := record.ID(b.Git("rev-parse", mission.Ref())[:12])

	b.Git("remote", "set-url", "origin", upstream.Dir)
	b.Git("config", "remote.origin.pushurl", first.Dir)
	b.Git("config", "--add", "remote.origin.pushurl", second.Dir)
	b.agree(first.Dir, "all")
	if p := b.push(mission); p.As != side || !p.Sent {
		t.Errorf("push: %+v", p)
	}
	b.turn(mission, "by b, again")
	b.turn("00000001", "another one")
	b.pushAll()
	want := refsOf(b.Repo, "refs/agent/missions/")
	want[side.Ref()] = want[mission.Ref()]
	delete(want, mission.Ref())
	for _, host := range []*clone{{first, t}, {second, t}} {
		got := refsOf(host.Repo, "refs/agent/missions/")
		delete(got, mission.Ref()) // the first has ours as it was when the second rejected it, the second has a's
		if !maps.Equal(got, want) {
			t.Errorf("%s has %v, want %v", host.Dir, got, want)
		}
	}
	if got := refsOf(upstream, "refs/agent/"); len(got) > 0 {
		t.Errorf("where fetches come from there are %v", got)
	}
	refs := agentRefs(b.Repo)
	b.pushAll()
	if got := agentRefs(b.Repo); !maps.Equal(got, refs) {
		t.Errorf("a push made %v of our refs %v", got, refs)
	}
}
