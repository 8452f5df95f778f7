package remote_test

import (
	"maps"
	"testing"

	"gitagent/test/gittest"
)

// TestMany: more missions than are fetched by name or pushed together.
func TestMany(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	n := gittest.Size(300, 210) // 200 go together
	host, second := newHost(t), newHost(t)
	fill(t, host, 0, n)
	c := cloneOf(t, host.Dir)
	if got := c.fetch(); len(got) != n {
		t.Errorf("a fetch brought %d missions, want %d", len(got), n)
	}
	if got, want := agentRefs(c.Repo), agentRefs(host); len(want) != 2*n || !maps.Equal(got, want) {
		t.Errorf("there are %d refs, want those of the host, %d", len(got), len(want))
	}
	equal(t, "fetch again", c.fetch(), nil)
	c.Git("remote", "set-url", "origin", second.Dir)
	c.agree(second.Dir, "all")
	c.pushAll()
	if got, want := agentRefs(second), agentRefs(host); !maps.Equal(got, want) {
		t.Errorf("the second host has %d refs, want those of the first, %d", len(got), len(want))
	}
}
