package fetcher_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/internal/fetcher"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
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

// TestNotKept: an archive's index may name commits that nobody has, as anybody who can push writes it. They keep no
// other mission from arriving, and the archive comes once for them.
func TestNotKept(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, protocol := range []string{"0", "2"} {
		t.Run("protocol "+protocol, func(t *testing.T) {
			t.Parallel()
			host := remotelab.NewHost(t)
			host.Git("config", "--unset", "uploadpack.allowAnySHA1InWant")
			a := remotelab.CloneOf(t, host.Dir)
			ids := []record.ID{"a1b2c3d4", "b1b2c3d4", "c1b2c3d4"}
			for _, id := range ids {
				a.Turn(id, "one of "+string(id))
			}
			a.PushAll()
			if _, err := missionstore.Archive(t.Context(), a.Workspace(), ids[:1], nil, false); err != nil {
				t.Fatal(err)
			}
			if _, err := pusher.PushArchive(t.Context(), a.Origin()); err != nil {
				t.Fatal(err)
			}

			objects := a.Open().Objects(t.Context())
			defer objects.Close()
			index, err := ledger.OpenArchive(objects, object.NewHash(a.Git("rev-parse", ledger.ArchiveRef)))
			gittest.Must(t, err)
			nobodys := object.NewHash(strings.Repeat("12", 20))
			index, err = index.With(map[record.ID]ledger.ArchiveEntry{ids[1]: {ID: ids[1], Ledger: nobodys}, "d1b2c3d4": {ID: "d1b2c3d4", Ledger: nobodys}})
			gittest.Must(t, err)
			gittest.Must(t, objects.Flush())
			a.Git("push", "-q", "--force", host.Dir, index.Tip.String()+":"+ledger.ArchiveRef)

			b := remotelab.CloneOf(t, host.Dir, "-c", "protocol.version="+protocol, "--no-local")
			changes, err := fetcher.Fetch(t.Context(), b.Origin())
			if err == nil || !strings.Contains(err.Error(), "b1b2c3d4") || len(changes) != 2 {
				t.Errorf("fetch: %v, %v; want two missions and an error that names b1b2c3d4", changes, err)
			}
			remotelab.Equal(t, "fetch again", b.Fetch(), nil)
			changes, err = fetcher.Fetch(t.Context(), b.Origin(), ids[0], "d1b2c3d4")
			if !errors.Is(err, git.ErrNotFound) || len(changes) != 1 || changes[0].Mission != ids[0] {
				t.Errorf("fetch of archived ones: %v, %v; want one, and that the other is not there", changes, err)
			}
		})
	}
}
