package missionstore_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/limit"
	"gitagent/internal/missionstore"
	"gitagent/internal/record"
	"gitagent/test/gittest"
	"gitagent/test/lab"
	"gitagent/test/replay"
	"gitagent/turns"
)

// archived are the entries of the archive.
func archived(l *lab.Lab) (entries []ledger.ArchiveEntry) {
	l.T.Helper()
	repo := l.GitRepo()
	refs, err := repo.Refs(l.T.Context(), ledger.ArchiveRef)
	gittest.Must(l.T, err)
	objects := repo.Objects(l.T.Context())
	defer objects.Close()
	index, err := ledger.OpenArchive(objects, refs[ledger.ArchiveRef])
	gittest.Must(l.T, err)
	for e, err := range index.All() {
		gittest.Must(l.T, err)
		entries = append(entries, e)
	}
	return entries
}

// TestArchiveAtOnce archives missions again and again while sessions record to them: no turn is lost, and
// none is there twice.
func TestArchiveAtOnce(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	sessions, n := 4, gittest.Size(12, 5)
	var ids []record.ID
	var clients []*replay.Client
	for range sessions {
		c := l.Client()
		clients, ids = append(clients, c), append(ids, lab.Own(c))
	}
	var recording, archiving sync.WaitGroup
	var over atomic.Bool
	for i, c := range clients {
		recording.Go(func() {
			for k := range n {
				c.Prompt(fmt.Sprint(k))
				l.Write(fmt.Sprintf("of %d", i), fmt.Sprint(k))
				c.Stop("done")
			}
		})
	}
	archiving.Go(func() {
		for !over.Load() {
			if _, err := missionstore.Archive(context.Background(), l.Workspace(l.Dir), ids, nil, false); err != nil {
				t.Errorf("archive: %v", err)
				return
			}
			// With tables it fails where somebody else moves a ref meanwhile.
			if out, err := l.Try("pack-refs", "--all"); err != nil && !l.InTables() {
				t.Errorf("pack-refs: %v\n%s", err, out)
				return
			}
		}
	})
	recording.Wait()
	over.Store(true)
	archiving.Wait()
	l.Archive(ids...)
	for _, id := range ids {
		list := l.List(id)
		if len(list) != n {
			t.Errorf("mission %s has %d turns, want %d:\n%s", id, len(list), n, lab.Describe(list))
		}
		for i, turn := range list {
			if turn.Prompt != fmt.Sprint(i) {
				t.Errorf("turn %d of mission %s is %q", turn.Turn, id, turn.Prompt)
			}
		}
	}
	if refs := l.Git("for-each-ref", "refs/agent/missions", "refs/notes"); refs != "" {
		t.Errorf("refs that stayed:\n%s", refs)
	}
	l.Fsck()
}

// TestArchiveWaits: whoever holds a mission's lock has its refs for himself. A hook takes a lock that stays
// on one for that of a dead git.
func TestArchiveWaits(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	l.Turn(c, "one", l.Writes("kept.txt", "one\n"))
	w := l.Workspace(l.Dir)
	held, err := w.Store.LockMission(t.Context(), lab.Own(c))
	gittest.Must(t, err)
	defer held.Release()
	ctx := limit.With(t.Context(), limit.Limits{Lock: time.Millisecond})
	if done, err := missionstore.Archive(ctx, w, []record.ID{lab.Own(c)}, nil, false); err == nil {
		t.Errorf("it did not wait: %+v", done)
	}
	l.Git("rev-parse", "--verify", lab.Own(c).Ref())
}

// TestRemoveWhatWentOn removes a mission that went on after it was archived: what the archive has of it does
// not take its place.
func TestRemoveWhatWentOn(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	id := lab.Own(c)
	l.Turn(c, "one", l.Writes("kept.txt", "one\n"))
	l.Archive(id)
	l.Turn(c, "two", l.Writes("kept.txt", "two\n"))
	if _, err := missionstore.Remove(t.Context(), l.Workspace(l.Dir), id, nobody, false, false); err != nil {
		t.Fatal(err)
	}
	if tip, err := ledger.Tip(t.Context(), l.GitRepo(), id); err == nil {
		t.Errorf("mission %s is at %s again", id, tip)
	}
	if e := archived(l); len(e) != 1 || !e[0].Gone() {
		t.Errorf("the archive has %+v", e)
	}
}

// TestArchiveOtherChain archives a mission of which the archive has a ledger that this one does not contain:
// both stay.
func TestArchiveOtherChain(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c, other := l.Client(), l.Client()
	id := lab.Own(c)
	l.Turn(c, "one", l.Writes("kept.txt", "one\n"))
	l.Turn(other, "elsewhere", l.Writes("kept.txt", "other\n"))
	first := object.NewHash(l.Git("rev-parse", id.Ref()))
	second := object.NewHash(l.Git("rev-parse", lab.Own(other).Ref()))
	l.Archive(id)
	for _, gone := range []record.ID{id, lab.Own(other)} { // as if others had written them
		gittest.Must(t, l.Workspace(l.Dir).GiveUp(gone))
	}
	l.Git("update-ref", id.Ref(), second.String()) // as it came from elsewhere
	l.Git("update-ref", "-d", lab.Own(other).Ref())
	l.Archive(id)
	var kept []object.Hash
	for _, e := range archived(l) {
		kept = append(kept, e.Ledger)
		if e.Ledger == second && e.ID != id {
			t.Errorf("mission %s became %s", id, e.ID)
		}
	}
	if !slices.Contains(kept, first) || !slices.Contains(kept, second) {
		t.Errorf("the archive has %s; want %s and %s", kept, first, second)
	}
}

// TestExpandArchived: an id in full names that mission, even if longer ones begin with it.
func TestExpandArchived(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	c := l.Client()
	id := lab.Own(c)
	l.Turn(c, "one", l.Writes("kept.txt", "one\n"))
	l.Git("update-ref", string("refs/agent/missions/"+id+"0123"), id.Ref())
	l.Archive(id)
	for name, want := range map[string]record.ID{string(id): id, string(id) + "0": id + "0123", string(id[:5]): id + "0123"} {
		if got, err := ledger.Expand(t.Context(), l.GitRepo(), name); got != want || err != nil {
			t.Errorf("Expand(%q) = %q, %v; want %q", name, got, err, want)
		}
	}
}

// TestContinueWithoutNotes: an archived mission whose notes can't be read goes on, and they are not lost.
func TestContinueWithoutNotes(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	id := lab.Own(c)
	l.Turn(c, "one", l.Writes("kept.txt", "one\n"))
	want, err := l.Feed(strings.Repeat("x", 2<<20), "commit-tree", l.Git("rev-parse", id.NotesRef()+"^{tree}"))
	gittest.Must(t, err)
	l.Git("update-ref", id.NotesRef(), want) // a commit of notes has 1 MiB at most
	l.Archive(id)
	l.Turn(c, "two", l.Writes("kept.txt", "two\n"))
	if got, err := l.Try("rev-parse", "--verify", id.NotesRef()); err != nil || got != want {
		t.Errorf("notes are at %s, %v; want %s", got, err, want)
	}
}

// TestArchivedForks finds the forks of a turn, archived or not.
func TestArchivedForks(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	l.Turn(c, "one", l.Writes("kept.txt", "one\n"))
	first := l.List(lab.Own(c))[0]
	of, ids := first.ID(), []record.ID{"f0f0f0f0", "f1f1f1f1"}
	places := make(map[record.ID]string)
	for _, id := range ids {
		places[id] = l.ForkTo(id, first, false).Dir
	}
	check := func(named record.ID, want ...record.ID) {
		t.Helper()
		forks, err := turns.Forks(t.Context(), l.GitRepo(), of, named)
		var got []record.ID
		for _, f := range forks {
			got = append(got, f.ID)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("forks besides %q: %v, %v; want %v", named, got, err, want)
		}
	}
	check("", ids...)
	l.Git("worktree", "remove", "--force", places[ids[0]])
	l.Archive(ids[0])
	check("", ids[1])
	check(ids[0], ids...)
	l.Git("worktree", "remove", "--force", places[ids[1]])
	l.Archive(lab.Own(c), ids[1])
	check("", ids...)
}
