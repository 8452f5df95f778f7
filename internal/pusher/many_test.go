package pusher_test

import (
	"maps"
	"testing"

	"gitagent/test/gittest"
	"gitagent/test/remotelab"
)

// TestMany: more missions than are fetched by name or pushed together.
func TestMany(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	n := gittest.Size(300, 210) // 200 go together
	host, second := remotelab.NewHost(t), remotelab.NewHost(t)
	fill(t, host, 0, n)
	c := remotelab.CloneOf(t, host.Dir)
	if got := c.Fetch(); len(got) != n {
		t.Errorf("a fetch brought %d missions, want %d", len(got), n)
	}
	if got, want := remotelab.AgentRefs(c.Repo), remotelab.AgentRefs(host); len(want) != 2*n || !maps.Equal(got, want) {
		t.Errorf("there are %d refs, want those of the host, %d", len(got), len(want))
	}
	remotelab.Equal(t, "fetch again", c.Fetch(), nil)
	c.Git("remote", "set-url", "origin", second.Dir)
	c.Agree(second.Dir, "all")
	c.PushAll()
	if got, want := remotelab.AgentRefs(second), remotelab.AgentRefs(host); !maps.Equal(got, want) {
		t.Errorf("the second host has %d refs, want those of the first, %d", len(got), len(want))
	}
}
