package remote_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gitagent/internal/archive"
	"gitagent/internal/git"
	"gitagent/internal/ledgertx"
	"gitagent/internal/missionstore"
	"gitagent/internal/record"
	"gitagent/internal/remote"
	"gitagent/internal/statedir"
	"gitagent/test/gittest"
)

// archives puts missions into the archive of a clone.
func archiveAll(c *clone, ids ...record.ID) {
	c.t.Helper()
	done, err := missionstore.Archive(c.t.Context(), c.workspace(), ids, nil, false)
	if err != nil || len(done.Left) > 0 {
		c.t.Fatal(err, done.Left)
	}
}

// pushArchive pushes the archive, and returns the missions whose refs went there.
func pushArchive(c *clone) []record.ID {
	c.t.Helper()
	done, err := remote.PushArchive(c.t.Context(), c.origin())
	if err != nil {
		c.t.Fatal(err)
	}
	return done.Gone
}

// archiveOf is the index and the keeping commit of the archive in a repository.
func archiveOf(r *gittest.Repo) string {
	refs := refsOf(r, archive.IndexRef, archive.KeepRef)
	keep := refs[archive.KeepRef]
	if keep != "" { // a clone has a stem before it
		keep = r.Git("rev-list", "--first-parent", "--grep=^kept$", "-n", "1", keep)
	}
	return refs[archive.IndexRef] + " " + keep
}

// TestPushArchive: archived missions go at the remote, stay there for who asks, and are not sent again by who
// has them.
func TestPushArchive(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	host := newHost(t)
	a, b := cloneOf(t, host.Dir), cloneOf(t, host.Dir)
	ids := []record.ID{"a1b2c3d4", "b1b2c3d4", "c1b2c3d4"}
	for _, id := range ids {
		a.turn(id, "one of "+string(id))
	}
	a.pushAll()
	b.fetch()
	equal(t, "without an archive", pushArchive(a), nil)
	archiveAll(a, ids[:2]...)
	equal(t, "gone at the host", pushArchive(a), ids[:2])
	equal(t, "again", pushArchive(a), nil)
	if refs := agentRefs(host); len(refs) != 4 || archiveOf(host) != archiveOf(a.Repo) {
		t.Errorf("the host has %v", refs)
	}
	if got := host.Git("log", "-1", "--format=%s", archive.KeepRef); got != "kept" {
		t.Errorf("the host has got the stem of a clone: %s", got)
	}
	for _, ref := range []string{archive.KeepRef, archive.SeenRefs + "origin/keep"} {
		if got := a.Git("log", "-1", "--format=%s", ref); got != "kept here" {
			t.Errorf("%s is without a stem: %s", ref, got)
		}
	}
	host.Git("fsck", "--strict")

	b.pushAll() // has all of them, with refs
	if refs := agentRefs(host); len(refs) != 4 {
		t.Errorf("the host has %v", refs)
	}
	fresh := cloneOf(t, host.Dir)
	equal(t, "fetch", fresh.fetch(), []string{"c1b2c3d4 new"})
	if refs := refsOf(fresh.Repo, "refs/agent/archive"); len(refs) > 0 {
		t.Errorf("a fetch made an archive: %v", refs)
	}
	equal(t, "fetch again", fresh.fetch(), nil)
	equal(t, "fetch of an archived one", fresh.fetch(ids[0]), []string{"a1b2c3d4 new"})
	equal(t, "its prompts", fresh.prompts(ids[0]), []string{"one of a1b2c3d4"})
	fresh.Git("fsck", "--strict")

	// It goes on, and is back with refs, until it is archived again.
	fresh.turn(ids[0], "two")
	fresh.pushAll()
	if refs := agentRefs(host); refs[ids[0].Ref()] == "" {
		t.Errorf("the host has %v", refs)
	}
	b.fetch()
	equal(t, "prompts", b.prompts(ids[0]), []string{"one of a1b2c3d4", "two"})
	equal(t, "not as the archive has it", pushArchive(a), nil)
	archiveAll(b, ids[0])
	equal(t, "gone again", pushArchive(b), ids[:1])
	again := cloneOf(t, host.Dir)
	again.fetch(ids[0])
	equal(t, "prompts", again.prompts(ids[0]), []string{"one of a1b2c3d4", "two"})
}

// TestPushDamagedArchive: what goes to a remote keeps what it lists, though the ref that keeps it here is lost; and
// of an archive that is damaged here nothing goes.
func TestPushDamagedArchive(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	host := newHost(t)
	a := cloneOf(t, host.Dir)
	a.turn("a1b2c3d4", "one")
	a.pushAll()
	archiveAll(a, "a1b2c3d4")
	want := archiveOf(a.Repo)
	a.Git("update-ref", "-d", archive.KeepRef)
	equal(t, "gone at the host", pushArchive(a), []record.ID{"a1b2c3d4"})
	if now := archiveOf(host); now != want {
		t.Errorf("the host's archive is %s, want %s", now, want)
	}
	if a.InTables() {
		return // no ref has a file that could be empty
	}
	a.Write(".git/"+archive.IndexRef, "")
	if _, err := remote.PushArchive(t.Context(), a.origin()); !git.Lost(err) {
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
	host := newHost(t)
	a, b := cloneOf(t, host.Dir), cloneOf(t, host.Dir)
	a.turn("a1b2c3d4", "one")
	b.turn("b1b2c3d4", "two")
	archiveAll(a, "a1b2c3d4")
	pushArchive(a)
	archiveAll(b, "b1b2c3d4")
	store := b.workspace().Store
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
	a.turn("c1b2c3d4", "three")
	archiveAll(a, "c1b2c3d4")
	pushArchive(a)
	equal(t, "fetch", b.fetch("c1b2c3d4"), []string{"c1b2c3d4 new"})
	killed()
	if err := ledgertx.ClearDead(t.Context(), b.workspace()); err != nil {
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
		host := newHost(t)
		var clones []*clone
		for i := range 3 {
			c := cloneOf(t, host.Dir)
			id := record.ID(fmt.Sprintf("%d1b2c3d4", i))
			c.turn(id, "one")
			archiveAll(c, id)
			clones = append(clones, c)
		}
		for _, i := range order {
			pushArchive(clones[i])
		}
		fresh := cloneOf(t, host.Dir)
		for i := range 3 {
			id := record.ID(fmt.Sprintf("%d1b2c3d4", i))
			equal(t, "fetch", fresh.fetch(id), []string{string(id) + " new"})
		}
		host.Git("fsck", "--strict")
		for _, c := range clones {
			if keep := refsOf(c.Repo, archive.IndexRef); len(keep) != 1 {
				t.Errorf("a clone lost its archive: %v", keep)
			}
			if got := strings.Fields(c.Git("ls-tree", "-r", "--name-only", archive.IndexRef)); len(got) != 1 {
				t.Errorf("the archive of a clone has %v", got)
			}
		}
	}
}

// TestArchiveSides: one mission went on in two clones, which both archived it.
func TestArchiveSides(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	host := newHost(t)
	a, b := cloneOf(t, host.Dir), cloneOf(t, host.Dir)
	a.turn(mission, "common")
	a.push(mission)
	b.fetch()
	a.turn(mission, "by a")
	b.turn(mission, "by b")
	var sides []record.ID
	for _, c := range []*clone{a, b} {
		sides = append(sides, record.ID(c.Git("rev-parse", mission.Ref())[:12]))
		archiveAll(c, mission)
		pushArchive(c)
	}
	fresh := cloneOf(t, host.Dir)
	fresh.fetch(mission)
	got := fresh.prompts(mission)
	for _, side := range sides {
		if changes, err := remote.Fetch(t.Context(), fresh.origin(), side); err == nil && len(changes) == 1 {
			got = append(got, fresh.prompts(side)...)
		}
	}
	slices.Sort(got)
	equal(t, "prompts", got, []string{"by a", "by b", "common", "common"})
}

// TestArchiveRace: another clone pushes its archive between a look and the push.
func TestArchiveRace(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	host := newHost(t)
	clones := make([]*clone, 4)
	errs := make(chan error)
	for i := range clones {
		clones[i] = cloneOf(t, host.Dir)
		id := record.ID(fmt.Sprintf("%d1b2c3d4", i))
		clones[i].turn(id, "one")
		clones[i].push(id)
		archiveAll(clones[i], id)
	}
	for _, c := range clones {
		r := c.origin()
		go func() {
			_, err := remote.PushArchive(t.Context(), r)
			errs <- err
		}()
	}
	for range clones {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	host.Git("fsck", "--strict")
	if refs := agentRefs(host); len(refs) != 2 {
		t.Errorf("the host has %v", refs)
	}
	fresh := cloneOf(t, host.Dir)
	for i := range clones {
		fresh.fetch(record.ID(fmt.Sprintf("%d1b2c3d4", i)))
	}
}

// TestForeignArchive: a stranger's index changes no mission here, live or archived, and what it names is
// checked like all that is fetched.
func TestForeignArchive(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	host := newHost(t)
	c := cloneOf(t, host.Dir)
	c.turn(mission, "ours")
	c.turn("b1b2c3d4", "ours, too")
	archiveAll(c, "b1b2c3d4")
	before := agentRefs(c.Repo)

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
			host.Git("update-ref", archive.IndexRef, host.Git("commit-tree", "-m", "archive", top))
			if _, err := remote.Fetch(t.Context(), c.origin()); err != nil {
				t.Error(err)
			}
			for _, id := range []record.ID{mission, "b1b2c3d4", "c1b2c3d4"} {
				_, _ = remote.Fetch(t.Context(), c.origin(), id)
			}
			after := agentRefs(c.Repo)
			maps.DeleteFunc(after, func(ref, _ string) bool { return strings.HasPrefix(ref, "refs/agent/archives/") })
			if !maps.Equal(before, after) {
				t.Errorf("refs are %v, want %v", after, before)
			}
			equal(t, "prompts", c.prompts(mission), []string{"ours"})
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
			host := newHost(t)
			a, b := cloneOf(t, host.Dir), cloneOf(t, host.Dir)
			b.turn("b1b2c3d4", "only here")
			blob := a.Git("rev-parse", "main:file")
			if what == "a blob" {
				a.Git("push", "-q", "origin", blob+":"+archive.IndexRef)
			} else {
				a.Write("missions/b1", fmt.Sprintf(`{"id":"b1b2c3d4","ledger":"%s","at":1}`, gittest.Hash("1"))+"\n")
				a.Git("add", "missions")
				a.Git("push", "-q", "origin", a.Git("commit-tree", "-m", "archive", a.Git("write-tree"))+":"+archive.IndexRef)
			}
			a.turn(mission, "one")
			if _, err := remote.PushAll(t.Context(), a.origin(), []record.ID{mission, "a2b2c3d4"}); err != nil {
				t.Error(err)
			}
			changes, err := remote.Fetch(t.Context(), b.origin())
			if len(changes) != 1 || changes[0].Mission != mission || (err == nil) != (what == "a blob") {
				t.Errorf("fetch: %v, %v", changes, err)
			}
			if _, err := remote.PushAll(t.Context(), b.origin(), nil); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestArchiveOfNothing: missions that a remote's archive names and does not keep are no reason not to send ours.
func TestArchiveOfNothing(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	host := newHost(t)
	a := cloneOf(t, host.Dir)
	a.turn(mission, "one")
	a.pushAll()
	here, blob, nothing := a.Git("rev-parse", mission.Ref()), a.Git("rev-parse", "main:file"), gittest.Hash("1")
	content := ""
	for n, tips := range []string{`"ledger":"` + nothing + `"`, `"ledger":"` + here + `","notes":"` + nothing + `"`, `"ledger":"` + here + `","branch":"` + blob + `"`} {
		content += fmt.Sprintf(`{"id":"a1b2c3d%d",%s,"at":9999999999}`, 4+n, tips) + "\n"
	}
	a.Write("missions/a1", content)
	a.Git("add", "missions")
	a.Git("push", "-q", "origin", a.Git("commit-tree", "-m", "archive", a.Git("write-tree"))+":"+archive.IndexRef)
	archiveAll(a, mission)
	pushArchive(a)
	if archiveOf(host) != archiveOf(a.Repo) {
		t.Errorf("the host's archive is %s, want %s", archiveOf(host), archiveOf(a.Repo))
	}
	fresh := cloneOf(t, host.Dir)
	fresh.fetch(mission)
	equal(t, "prompts", fresh.prompts(mission), []string{"one"})
	host.Git("fsck", "--strict")
}
