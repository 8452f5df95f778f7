package remote_test

import (
	"maps"
	"testing"

	"gitagent/internal/ledger"
)

// TestQueue: what waits survives the death of the pushing process, and goes when the remote is
// back.
func TestQueue(t *testing.T) {
	t.Parallel()
	host := newHost(t)
	c := cloneOf(t, host.Dir)
	other := ledger.ID("00000001")
	c.turn(mission, "one")
	c.turn(other, "one")
	for _, id := range []ledger.ID{mission, other, "ffffffff"} { // the last one was removed
		if err := c.origin().Later(id); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.origin().Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := agentRefs(host), agentRefs(c.Repo); len(want) != 4 || !maps.Equal(got, want) {
		t.Errorf("the host has %v, want %v", got, want)
	}
	if waits, err := c.origin().Pending(); err != nil || len(waits) > 0 {
		t.Errorf("there still wait %v, %v", waits, err)
	}
	if !c.origin().Await(t.Context(), mission) {
		t.Error("a mission that does not wait is awaited")
	}

	// Without consent, withdrawn meanwhile, the mission keeps waiting.
	c.turn(mission, "two")
	if err := c.origin().Later(mission); err != nil {
		t.Fatal(err)
	}
	c.agree(host.Dir, "none")
	before := agentRefs(host)
	if err := c.origin().Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := agentRefs(host); !maps.Equal(got, before) {
		t.Errorf("the host has %v, want %v", got, before)
	}
	if waits, err := c.origin().Pending(); err != nil || len(waits) != 1 {
		t.Errorf("there wait %v, %v", waits, err)
	}
}
