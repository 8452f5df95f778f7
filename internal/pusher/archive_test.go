package pusher_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gitagent/internal/fetcher"
	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/ledgertx"
	"gitagent/internal/missionstore"
	"gitagent/internal/pusher"
	"gitagent/internal/record"
	"gitagent/internal/statedir"
	"gitagent/test/gittest"
	"gitagent/test/remotelab"
)

// archives puts missions into the archive of a clone.
func archiveAll(c *remotelab.Clone, ids ...record.ID) {
	c.T.Helper()
	done, err := missionstore.Archive(c.T.Context(), c.Workspace(), ids, nil, false)
	if err != nil || len(done.Left) > 0 {
		c.T.Fatal(err, done.Left)
	}
}

// pushArchive pushes the archive, and returns the missions whose refs went there.
func pushArchive(c *remotelab.Clone) []record.ID {
	c.T.Helper()
	done, err := pusher.PushArchive(c.T.Context(), c.Origin())
	if err != nil {
		c.T.Fatal(err)
	}
	return done.Gone
}

// archiveOf is the index and the keeping commit of the archive in a repository.
func archiveOf(r *gittest.Repo) string {
	refs := remotelab.RefsOf(r, ledger.ArchiveRef, ledger.ArchiveKeepRef)
	keep := refs[ledger.ArchiveKeepRef]
	if keep != "" { // a clone has a stem before it
		keep = r.Git("rev-list", "--first-parent", "--grep=^kept$", "-n", "1", keep)
	}
	return refs[ledger.ArchiveRef] + " " + keep
}

// TestPushArchive: archived missions go at the remote, stay there for who asks, and are not sent again by who
// has them.
func TestPushArchive(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	host := remotelab.NewHost(t)
	a, b := remotelab.CloneOf(t, host.Dir), remotelab.CloneOf(t, host.Dir)
	ids := []record.ID{"a1b2c3d4", "b1b2c3d4", "c1b2c3d4"}
	for _, id := range ids {
		a.Turn(id, "one of "+string(id))
	}
	a.PushAll()
	b.Fetch()
	remotelab.Equal(t, "without an archive", pushArchive(a), nil)
	archiveAll(a, ids[:2]...)
	remotelab.Equal(t, "gone at the host", pushArchive(a), ids[:2])
	remotelab.Equal(t, "again", pushArchive(a), nil)
	if refs := remotelab.AgentRefs(host); len(refs) != 4 || archiveOf(host) != archiveOf(a.Repo) {
		t.Errorf("the host has %v", refs)
	}
	if got := host.Git("log", "-1", "--format=%s", ledger.ArchiveKeepRef); got != "kept" {
		t.Errorf("the host has got the stem of a clone: %s", got)
	}
	for _, ref := range []string{ledger.ArchiveKeepRef, ledger.SeenArchives + "origin/keep"} {
		if got := a.Git("log", "-1", "--format=%s", ref); got != "kept here" {
			t.Errorf("%s is without a stem: %s", ref, got)
		}
	}
	host.Git("fsck", "--strict")

	b.PushAll() // has all of them, with refs
	if refs := remotelab.AgentRefs(host); len(refs) != 4 {
		t.Errorf("the host has %v", refs)
	}
	fresh := remotelab.CloneOf(t, host.Dir)
	remotelab.Equal(t, "fetch", fresh.Fetch(), []string{"c1b2c3d4 new"})
	if refs := remotelab.RefsOf(fresh.Repo, "refs/agent/archive"); len(refs) > 0 {
		t.Errorf("a fetch made an archive: %v", refs)
	}
	remotelab.Equal(t, "fetch again", fresh.Fetch(), nil)
	remotelab.Equal(t, "fetch of an archived one", fresh.Fetch(ids[0]), []string{"a1b2c3d4 new"})
	remotelab.Equal(t, "its prompts", fresh.Prompts(ids[0]), []string{"one of a1b2c3d4"})
	fresh.Git("fsck", "--strict")

	// It goes on, and is back with refs, until it is archived again.
	fresh.Turn(ids[0], "two")
	fresh.PushAll()
	if refs := remotelab.AgentRefs(host); refs[ids[0].Ref()] == "" {
		t.Errorf("the host has %v", refs)
	}
	b.Fetch()
	remotelab.Equal(t, "prompts", b.Prompts(ids[0]), []string{"one of a1b2c3d4", "two"})
	remotelab.Equal(t, "not as the archive has it", pushArchive(a), nil)
	archiveAll(b, ids[0])
	remotelab.Equal(t, "gone again", pushArchive(b), ids[:1])
	again := remotelab.CloneOf(t, host.Dir)
	again.Fetch(ids[0])
	remotelab.Equal(t, "prompts", again.Prompts(ids[0]), []string{"one of a1b2c3d4", "two"})
}

// TestPushDamagedArchive: what goes to a remote keeps what it lists, though the ref that keeps it here is lost; and
// of an archive that is damaged here nothing goes.
func TestPushDamagedArchive(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	host := remotelab.NewHost(t)
	a := remotelab.CloneOf(t, host.Dir)
	a.Turn("a1b2c3d4", "one")
	a.PushAll()
	archiveAll(a, "a1b2c3d4")
	want := archiveOf(a.Repo)
	a.Git("update-ref", "-d", ledger.ArchiveKeepRef)
	remotelab.Equal(t, "gone at the host", pushArchive(a), []record.ID{"a1b2c3d4"})
	if now := archiveOf(host); now != want {
		t.Errorf("the host's archive is %s, want %s", now, want)
	}
	if a.InTables() {
		return // no ref has a file that could be empty
	}
	a.Write(".git/"+ledger.ArchiveRef, "")
	if _, err := pusher.PushArchive(t.Context(), a.Origin()); !git.Lost(err) {
		t.Errorf("push of a damaged archive: %v", err)
	}
	if now := archiveOf(host); now != want {
		t.Errorf("the host's archive is %s, want %s", now, want)
	}
}

// TestArchiveLocks: git was killed while it noted what the archive of a remote is. Its locks are in nobody's way.
func TestArchiveLocks(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	host := remotelab.NewHost(t)
	a, b := remotelab.CloneOf(t, host.Dir), remotelab.CloneOf(t, host.Dir)
	a.Turn("a1b2c3d4", "one")
	b.Turn("b1b2c3d4", "two")
	archiveAll(a, "a1b2c3d4")
	pushArchive(a)
	archiveAll(b, "b1b2c3d4")
	store := b.Workspace().Store
	killed := func() { // as who is killed in the middle leaves it
		dir := filepath.Join(b.Dir, ".git", "refs", "agent", "archives", "origin")
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		held, err := store.Lock(t.Context(), "archive-origin")
		if err == nil {
			err = held.Note(statedir.Note{At: time.Now(), Words: []string{dir + "/"}})
			held.Release()
		}
		for _, name := range []string{"index.lock", "keep.lock"} {
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, name), nil, 0o666)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	killed()
	pushArchive(b)
	killed()
	a.Turn("c1b2c3d4", "three")
	archiveAll(a, "c1b2c3d4")
	pushArchive(a)
	remotelab.Equal(t, "fetch", b.Fetch("c1b2c3d4"), []string{"c1b2c3d4 new"})
	killed()
	if err := ledgertx.ClearDead(t.Context(), b.Workspace()); err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(filepath.Join(b.Dir, ".git/refs/agent/archives/origin/*.lock")); err != nil || len(left) > 0 {
		t.Errorf("left %q, %v", left, err)
	}
}

// TestPushArchives: archives of several clones come together at the host, in every order, and nothing is lost.
func TestPushArchives(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}[:gittest.Size(6, 2)] {
		host := remotelab.NewHost(t)
		var clones []*remotelab.Clone
		for i := range 3 {
			c := remotelab.CloneOf(t, host.Dir)
			id := record.ID(fmt.Sprintf("%d1b2c3d4", i))
			c.Turn(id, "one")
			archiveAll(c, id)
			clones = append(clones, c)
		}
		for _, i := range order {
			pushArchive(clones[i])
		}
		fresh := remotelab.CloneOf(t, host.Dir)
		for i := range 3 {
			id := record.ID(fmt.Sprintf("%d1b2c3d4", i))
			remotelab.Equal(t, "fetch", fresh.Fetch(id), []string{string(id) + " new"})
		}
		host.Git("fsck", "--strict")
		for _, c := range clones {
			if keep := remotelab.RefsOf(c.Repo, ledger.ArchiveRef); len(keep) != 1 {
				t.Errorf("a clone lost its archive: %v", keep)
			}
			if got := strings.Fields(c.Git("ls-tree", "-r", "--name-only", ledger.ArchiveRef)); len(got) != 1 {
				t.Errorf("the archive of a clone has %v", got)
			}
		}
	}
}

// TestArchiveSides: one mission went on in two clones, which both archived it.
func TestArchiveSides(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	host := remotelab.NewHost(t)
	a, b := remotelab.CloneOf(t, host.Dir), remotelab.CloneOf(t, host.Dir)
	a.Turn(remotelab.Mission, "common")
	a.Push(remotelab.Mission)
	b.Fetch()
	a.Turn(remotelab.Mission, "by a")
	b.Turn(remotelab.Mission, "by b")
	var sides []record.ID
	for _, c := range []*remotelab.Clone{a, b} {
		sides = append(sides, record.ID(c.Git("rev-parse", remotelab.Mission.Ref())[:12]))
		archiveAll(c, remotelab.Mission)
		pushArchive(c)
	}
	fresh := remotelab.CloneOf(t, host.Dir)
	fresh.Fetch(remotelab.Mission)
	got := fresh.Prompts(remotelab.Mission)
	for _, side := range sides {
		if changes, err := fetcher.Fetch(t.Context(), fresh.Origin(), side); err == nil && len(changes) == 1 {
			got = append(got, fresh.Prompts(side)...)
		}
	}
	slices.Sort(got)
	remotelab.Equal(t, "prompts", got, []string{"by a", "by b", "common", "common"})
}

// TestArchiveRace: another clone pushes its archive between a look and the push.
func TestArchiveRace(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	host := remotelab.NewHost(t)
	clones := make([]*remotelab.Clone, 4)
	errs := make(chan error)
	for i := range clones {
		clones[i] = remotelab.CloneOf(t, host.Dir)
		id := record.ID(fmt.Sprintf("%d1b2c3d4", i))
		clones[i].Turn(id, "one")
		clones[i].Push(id)
		archiveAll(clones[i], id)
	}
	for _, c := range clones {
		r := c.Origin()
		go func() {
			_, err := pusher.PushArchive(t.Context(), r)
			errs <- err
		}()
	}
	for range clones {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	host.Git("fsck", "--strict")
	if refs := remotelab.AgentRefs(host); len(refs) != 2 {
		t.Errorf("the host has %v", refs)
	}
	fresh := remotelab.CloneOf(t, host.Dir)
	for i := range clones {
		fresh.Fetch(record.ID(fmt.Sprintf("%d1b2c3d4", i)))
	}
}

// TestForeignArchive: a stranger's index changes no mission here, live or archived, and what it names is
// checked like all that is fetched.
func TestForeignArchive(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	host := remotelab.NewHost(t)
	c := remotelab.CloneOf(t, host.Dir)
	c.Turn(remotelab.Mission, "ours")
	c.Turn("b1b2c3d4", "ours, too")
	archiveAll(c, "b1b2c3d4")
	before := remotelab.AgentRefs(c.Repo)

	main := host.Git("rev-parse", "main")
	fed := func(stdin string, args ...string) string {
		out, err := host.Feed(stdin, args...)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(out)
	}
	line := func(id, rest string) string { return fmt.Sprintf(`{"id":"%s",%s}`, id, rest) + "\n" }
	for name, files := range map[string]map[string]string{
		"junk":              {"a1": "{}\nnot json\n", "zz": "x\n"},
		"a tombstone":       {"a1": line("a1b2c3d4", `"removed":"`+main+`","at":9999999999`), "b1": line("b1b2c3d4", `"removed":"`+main+`","at":9999999999`)},
		"other commits":     {"a1": line("a1b2c3d4", `"ledger":"`+main+`","at":9999999999`), "c1": line("c1b2c3d4", `"ledger":"`+main+`","at":1`)},
		"what is not there": {"c1": line("c1b2c3d4", `"ledger":"`+gittest.Hash("1")+`","at":1`)},
	} {
		t.Run(name, func(t *testing.T) {
			tree := ""
			for file, content := range files {
				tree += "100644 blob " + fed(content, "hash-object", "-w", "--stdin") + "\t" + file + "\n"
			}
			top := fed("040000 tree "+fed(tree, "mktree")+"\tmissions\n", "mktree")
			host.Git("update-ref", ledger.ArchiveRef, host.Git("commit-tree", "-m", "archive", top))
			if _, err := fetcher.Fetch(t.Context(), c.Origin()); err != nil {
				t.Error(err)
			}
			for _, id := range []record.ID{remotelab.Mission, "b1b2c3d4", "c1b2c3d4"} {
				_, _ = fetcher.Fetch(t.Context(), c.Origin(), id)
			}
			after := remotelab.AgentRefs(c.Repo)
			maps.DeleteFunc(after, func(ref, _ string) bool { return strings.HasPrefix(ref, "refs/agent/archives/") })
			if !maps.Equal(before, after) {
				t.Errorf("refs are %v, want %v", after, before)
			}
			remotelab.Equal(t, "prompts", c.Prompts(remotelab.Mission), []string{"ours"})
			c.Git("fsck", "--strict")
		})
	}
}

// TestSpoiledArchive: an archive that can't be read, or says of a mission what nobody has, keeps no other mission from
// being sent or fetched.
func TestSpoiledArchive(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, what := range []string{"a blob", "what is not there"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			host := remotelab.NewHost(t)
			a, b := remotelab.CloneOf(t, host.Dir), remotelab.CloneOf(t, host.Dir)
			b.Turn("b1b2c3d4", "only here")
			blob := a.Git("rev-parse", "main:file")
			if what == "a blob" {
				a.Git("push", "-q", "origin", blob+":"+ledger.ArchiveRef)
			} else {
				a.Write("missions/b1", fmt.Sprintf(`{"id":"b1b2c3d4","ledger":"%s","at":1}`, gittest.Hash("1"))+"\n")
				a.Git("add", "missions")
				a.Git("push", "-q", "origin", a.Git("commit-tree", "-m", "archive", a.Git("write-tree"))+":"+ledger.ArchiveRef)
			}
			a.Turn(remotelab.Mission, "one")
			if _, err := pusher.PushAll(t.Context(), a.Origin(), []record.ID{remotelab.Mission, "a2b2c3d4"}); err != nil {
				t.Error(err)
			}
			changes, err := fetcher.Fetch(t.Context(), b.Origin())
			if len(changes) != 1 || changes[0].Mission != remotelab.Mission || (err == nil) != (what == "a blob") {
				t.Errorf("fetch: %v, %v", changes, err)
			}
			if _, err := pusher.PushAll(t.Context(), b.Origin(), nil); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestArchiveOfNothing: missions that a remote's archive names and does not keep are no reason not to send ours.
func TestArchiveOfNothing(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	host := remotelab.NewHost(t)
	a := remotelab.CloneOf(t, host.Dir)
	a.Turn(remotelab.Mission, "one")
	a.PushAll()
	here, blob, nothing := a.Git("rev-parse", remotelab.Mission.Ref()), a.Git("rev-parse", "main:file"), gittest.Hash("1")
	content := ""
	for n, tips := range []string{`"ledger":"` + nothing + `"`, `"ledger":"` + here + `","notes":"` + nothing + `"`, `"ledger":"` + here + `","branch":"` + blob + `"`} {
		content += fmt.Sprintf(`{"id":"a1b2c3d%d",%s,"at":9999999999}`, 4+n, tips) + "\n"
	}
	a.Write("missions/a1", content)
	a.Git("add", "missions")
	a.Git("push", "-q", "origin", a.Git("commit-tree", "-m", "archive", a.Git("write-tree"))+":"+ledger.ArchiveRef)
	archiveAll(a, remotelab.Mission)
	pushArchive(a)
	if archiveOf(host) != archiveOf(a.Repo) {
		t.Errorf("the host's archive is %s, want %s", archiveOf(host), archiveOf(a.Repo))
	}
	fresh := remotelab.CloneOf(t, host.Dir)
	fresh.Fetch(remotelab.Mission)
	remotelab.Equal(t, "prompts", fresh.Prompts(remotelab.Mission), []string{"one"})
	host.Git("fsck", "--strict")
}
