package fetcher_test

import (
	"path/filepath"
	"testing"

	"gitagent/internal/missionstore"
	"gitagent/internal/pusher"
	"gitagent/internal/record"
	"gitagent/test/gittest"
	"gitagent/test/remotelab"
)

// TestAdvertised: archived missions come from a host that gives only what it advertises, as every one does by protocol 0
// unless it says otherwise.
func TestAdvertised(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	host := remotelab.NewHost(t)
	host.Git("config", "--unset", "uploadpack.allowAnySHA1InWant")
	a := remotelab.CloneOf(t, host.Dir)
	ids := []record.ID{"a1b2c3d4", "b1b2c3d4", "c1b2c3d4"}
	for _, id := range ids {
		a.Turn(id, "one of "+string(id))
	}
	archive := func(ids ...record.ID) {
		t.Helper()
		done, err := missionstore.Archive(t.Context(), a.Workspace(), ids, nil, false)
		if err == nil && len(done.Left) == 0 {
			_, err = pusher.PushArchive(t.Context(), a.Origin())
		}
		if err != nil || len(done.Left) > 0 {
			t.Fatal(err, done.Left)
		}
	}
	a.PushAll()
	archive(ids[:2]...)
	b := remotelab.CloneOf(t, host.Dir, "-c", "protocol.version=0", "--no-local")
	remotelab.Equal(t, "fetch", b.Fetch(), []string{"c1b2c3d4 new"})
	remotelab.Equal(t, "fetch of an archived one", b.Fetch(ids[0]), []string{"a1b2c3d4 new"})
	remotelab.Equal(t, "its prompts", b.Prompts(ids[0]), []string{"one of a1b2c3d4"})
	remotelab.Equal(t, "fetch again", b.Fetch(), nil)
	if len(b.Sides()) != 2 {
		t.Errorf("missions %v, want two", b.Sides())
	}

	// It goes on there, and here it was archived with less.
	a.Fetch()
	if _, err := missionstore.Unarchive(t.Context(), a.Workspace(), ids[:1]); err != nil {
		t.Fatal(err)
	}
	a.Turn(ids[0], "two")
	archive(ids[0], ids[2])
	remotelab.Equal(t, "fetch of what went on", b.Fetch(), []string{"a1b2c3d4 forward"})
	remotelab.Equal(t, "prompts", b.Prompts(ids[0]), []string{"one of a1b2c3d4", "two"})
	b.Git("fsck", "--strict")
	if left, err := filepath.Glob(b.Dir + "/.git/objects/tmp_*"); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
