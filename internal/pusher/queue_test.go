package pusher_test

import (
	"maps"
	"slices"
	"testing"

	"gitagent/internal/pusher"
	"gitagent/internal/record"
	"gitagent/test/gittest"
	"gitagent/test/remotelab"
)

const second = record.ID("00000001")

// waiting returns a clone whose two missions wait for the host, and one that was removed.
func waiting(t *testing.T) (*gittest.Repo, *remotelab.Clone) {
	t.Helper()
	host := remotelab.NewHost(t)
	c := remotelab.CloneOf(t, host.Dir)
	for _, id := range []record.ID{remotelab.Mission, second} {
		c.Turn(id, "one")
	}
	for _, id := range []record.ID{remotelab.Mission, second, "ffffffff"} {
		gittest.Must(t, c.Origin().Later(id))
	}
	return host, c
}

// TestQueue: what waits survives the death of the pushing process, and goes when the remote is
// back.
func TestQueue(t *testing.T) {
	t.Parallel()
	host, c := waiting(t)
	if err := pusher.Drain(t.Context(), c.Origin()); err != nil {
		t.Fatal(err)
	}
	if got, want := remotelab.AgentRefs(host), remotelab.AgentRefs(c.Repo); len(want) != 4 || !maps.Equal(got, want) {
		t.Errorf("the host has %v, want %v", got, want)
	}
	if waits, err := c.Origin().Pending(); err != nil || len(waits) > 0 {
		t.Errorf("there still wait %v, %v", waits, err)
	}
	if !c.Origin().Await(t.Context(), remotelab.Mission) {
		t.Error("a mission that does not wait is awaited")
	}

	// Without consent, withdrawn meanwhile, the mission keeps waiting.
	c.Turn(remotelab.Mission, "two")
	if err := c.Origin().Later(remotelab.Mission); err != nil {
		t.Fatal(err)
	}
	c.Agree(host.Dir, "none")
	before := remotelab.AgentRefs(host)
	if err := pusher.Drain(t.Context(), c.Origin()); err != nil {
		t.Fatal(err)
	}
	if got := remotelab.AgentRefs(host); !maps.Equal(got, before) {
		t.Errorf("the host has %v, want %v", got, before)
	}
	if waits, err := c.Origin().Pending(); err != nil || len(waits) != 1 {
		t.Errorf("there wait %v, %v", waits, err)
	}
}

// TestSettle: what was pushed by hand waits no more, unless it has moved since.
func TestSettle(t *testing.T) {
	t.Parallel()
	_, c := waiting(t)
	r := c.Origin()
	p, err := pusher.Push(t.Context(), r, remotelab.Mission)
	if err != nil {
		t.Fatal(err)
	}
	settle := func(want ...record.ID) {
		t.Helper()
		if err := pusher.Settle(t.Context(), r, []*pusher.Pushed{p}); err != nil {
			t.Fatal(err)
		}
		waits, err := r.Pending()
		if err != nil || !slices.Equal(waits, want) {
			t.Errorf("there wait %v, %v, want %v", waits, err, want)
		}
	}
	settle(second)
	c.Turn(remotelab.Mission, "two")
	if err := r.Later(remotelab.Mission); err != nil {
		t.Fatal(err)
	}
	settle(second, remotelab.Mission)
}
