package remote_test

import (
	"maps"
	"slices"
	"testing"

	"gitagent/internal/record"
	"gitagent/internal/remote"
)

// TestQueue: what waits survives the death of the pushing process, and goes when the remote is
// back.
func TestQueue(t *testing.T) {
	t.Parallel()
	host := newHost(t)
	c := cloneOf(t, host.Dir)
	other := record.ID("00000001")
	c.turn(mission, "one")
	c.turn(other, "one")
	for _, id := range []record.ID{mission, other, "ffffffff"} { // the last one was removed
		if err := c.origin().Later(id); err != nil {
			t.Fatal(err)
		}
	}
	if err := remote.Drain(t.Context(), c.origin()); err != nil {
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
	if err := remote.Drain(t.Context(), c.origin()); err != nil {
		t.Fatal(err)
	}
	if got := agentRefs(host); !maps.Equal(got, before) {
		t.Errorf("the host has %v, want %v", got, before)
	}
	if waits, err := c.origin().Pending(); err != nil || len(waits) != 1 {
		t.Errorf("there wait %v, %v", waits, err)
	}
}

// TestSettle: what was pushed by hand waits no more, unless it has moved since.
func TestSettle(t *testing.T) {
	t.Parallel()
	host := newHost(t)
	c := cloneOf(t, host.Dir)
	other := record.ID("00000001")
	c.turn(mission, "one")
	c.turn(other, "one")
	for _, id := range []record.ID{mission, other, "ffffffff"} { // the last one was removed
		if err := c.origin().Later(id); err != nil {
			t.Fatal(err)
		}
	}
	r := c.origin()
	p, err := remote.Push(t.Context(), r, mission)
	if err != nil {
		t.Fatal(err)
	}
	settle := func(want ...record.ID) {
		t.Helper()
		if err := remote.Settle(t.Context(), r, []*remote.Pushed{p}); err != nil {
			t.Fatal(err)
		}
		waits, err := r.Pending()
		slices.Sort(waits) // their order is that of times, which may be equal
		if err != nil || !slices.Equal(waits, want) {
			t.Errorf("there wait %v, %v, want %v", waits, err, want)
		}
	}
	settle(other)
	c.turn(mission, "two")
	if err := r.Later(mission); err != nil {
		t.Fatal(err)
	}
	settle(other, mission)
}
