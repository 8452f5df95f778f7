package pusher_test

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"maps"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/config"
	"gitagent/internal/fetcher"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/ledger"
	"gitagent/internal/missionstore"
	"gitagent/internal/purge"
	"gitagent/internal/purgemap"
	"gitagent/internal/purgerewrite"
	"gitagent/internal/pusher"
	"gitagent/internal/record"
	"gitagent/internal/recorder"
	"gitagent/internal/remote"
	"gitagent/internal/scrub"
	"gitagent/internal/sshsig"
	"gitagent/internal/trust"
	"gitagent/internal/workspace"
	"gitagent/test/gittest"
	"gitagent/test/remotelab"
)

// spilled is what must not stay anywhere.
const spilled = "sk-spilled-4711-abcdef"

// A member is a person with a clone, and with keys of his own.
type member struct {
	*remotelab.Clone
	keys string // directory
}

func (m *member) workspace() *workspace.Workspace {
	m.T.Helper()
	w := workspace.New(m.Open(), config.Default())
	w.Trust = trust.New(w.Store.Dir(), func() *trust.Keys { return trust.ReadKeys(m.keys, "") })
	return w
}

func (m *member) origin() *remote.Remote {
	m.T.Helper()
	r, err := remote.Open(m.T.Context(), m.workspace(), "origin")
	if err != nil {
		m.T.Fatal(err)
	}
	return r
}

func (m *member) turn(id record.ID, prompt string) {
	m.T.Helper()
	s := recorder.Signal{Event: recorder.Prompted, At: time.Now(), Agent: "test", Mission: id, Session: "of-" + string(id), Prompt: prompt}
	if _, err := recorder.Record(m.T.Context(), m.workspace(), s); err != nil {
		m.T.Fatal(err)
	}
	m.Write("of "+string(id), prompt+"\n")
	s.Event, s.At, s.Reply = recorder.Stopped, time.Now(), "answer to "+prompt
	if _, err := recorder.Record(m.T.Context(), m.workspace(), s); err != nil {
		m.T.Fatal(err)
	}
}

// purge purges what was spilled.
func (m *member) purge() { m.purgeText(spilled) }

func (m *member) purgeText(text string) {
	m.T.Helper()
	finder, err := scrub.Fixed([]byte(text))
	if err != nil {
		m.T.Fatal(err)
	}
	m.purgeWhat(finder)
}

func (m *member) purgeWhat(finder *scrub.Finder) {
	m.T.Helper()
	p := &purge.Purge{Workspace: m.workspace(), Target: purgerewrite.Target{Finder: finder}}
	plan, err := p.Plan(m.T.Context())
	if err != nil {
		m.T.Fatal(err)
	}
	defer func() { plan.Close() }()
	if plan.Empty() {
		return
	}
	if _, err := plan.Execute(m.T.Context()); err != nil {
		m.T.Fatal(err)
	}
}

func (m *member) pushPurges() *pusher.Replaced {
	m.T.Helper()
	done, err := pusher.PushPurges(m.T.Context(), m.origin())
	if err != nil {
		m.T.Fatalf("push purges: %v", err)
	}
	return done
}

func (m *member) pushAll() {
	m.T.Helper()
	if _, err := pusher.PushAll(m.T.Context(), m.origin(), nil); err != nil {
		m.T.Fatalf("push: %v", err)
	}
}

func (m *member) archives(ids ...record.ID) {
	m.T.Helper()
	if done, err := missionstore.Archive(m.T.Context(), m.workspace(), ids, nil, false); err != nil || len(done.Left) > 0 {
		m.T.Fatal(err, done.Left)
	}
}

func (m *member) pushArchive() {
	m.T.Helper()
	if _, err := pusher.PushArchive(m.T.Context(), m.origin()); err != nil {
		m.T.Fatalf("push the archive: %v", err)
	}
}

func (m *member) fetch(ids ...record.ID) []fetcher.Change {
	m.T.Helper()
	changes, err := fetcher.Fetch(m.T.Context(), m.origin(), ids...)
	if err != nil {
		m.T.Fatalf("fetch: %v", err)
	}
	return changes
}

// newMember clones a repository for somebody who trusts others.
func newMember(t testing.TB, in *gittest.Repo, dir, name string) *member {
	t.Helper()
	in.Git("clone", "-q", dir+"/host", dir+"/"+name)
	m := &member{&remotelab.Clone{Repo: in.In(dir + "/" + name), T: t}, dir + "/keys/" + name}
	m.Git("remote", "set-url", "origin", "../host") // so that the directory can be copied
	m.Agree("../host", "all")
	if err := os.MkdirAll(m.keys, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := trust.ReadKeys(m.keys, "").MakeKey(name); err != nil {
		t.Fatal(err)
	}
	return m
}

func (m *member) trusts(others ...*member) {
	m.T.Helper()
	for _, other := range others {
		key := trust.ReadKeys(other.keys, "").Own.Public()
		if err := trust.ReadKeys(m.keys, "").Add(m.T.Context(), filepath.Base(other.keys), key); err != nil {
			m.T.Fatal(err)
		}
	}
}

// holds lists the objects of a repository that have a text: all, or those that refs lead to.
func holds(r *gittest.Repo, text string, reachable bool) (list []string) {
	which := []string{"cat-file", "--batch-all-objects", "--batch-check=%(objectname)"}
	if reachable {
		which = []string{"rev-list", "--objects", "--no-object-names", "--all"}
	}
	for hash := range strings.FieldsSeq(r.Git(which...)) {
		if kind := r.Git("cat-file", "-t", hash); kind != "tree" && strings.Contains(r.Git("cat-file", kind, hash), text) {
			list = append(list, kind+" "+hash)
		}
	}
	return list
}

// TestPurgeElsewhere: what one has purged and pushed goes from the clone of another one as he fetches, and his
// own turns stay.
func TestPurgeElsewhere(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	dir, a, b := newTeam(t)
	b.turn(remotelab.Mission, "of b, with "+spilled)
	b.turn(remotelab.Mission, "of b, without")
	a.purge()
	if found := holds(a.Repo, spilled, false); len(found) > 0 {
		t.Fatalf("a has %v", found)
	}
	a.pushPurges()
	if found := holds(a.Repo, spilled, false); len(found) > 0 {
		t.Errorf("a has %v after the push", found)
	}
	if found := holds(a.In(dir+"/host"), spilled, true); len(found) > 0 {
		t.Errorf("the host has %v", found)
	}
	t.Log(b.fetch())
	if found := holds(b.Repo, spilled, false); len(found) > 0 {
		t.Errorf("b has %v", found)
	}
	remotelab.Equal(t, "the turns of b", b.Prompts(remotelab.Mission), []string{"common", "a [redacted:purged]", "of b, with [redacted:purged]", "of b, without"})
	if len(b.Sides()) != 1 {
		t.Errorf("b has %v", b.Sides())
	}
	s, err := b.workspace().TrustLevel(t.Context(), b.Open().Objects(t.Context()), remotelab.Mission, object.NewHash(b.Git("rev-parse", remotelab.Mission.Ref())))
	if err != nil || !s.Whole {
		t.Errorf("b relies on %+v, %v", s, err)
	}
	b.pushAll()
	a.fetch()
	remotelab.Equal(t, "the turns of a", a.Prompts(remotelab.Mission), b.Prompts(remotelab.Mission))
	b.Git("fsck", "--strict")
	a.Git("fsck", "--strict")
}

// TestPurgeArchived: a mission that is archived somewhere when it is purged.
func TestPurgeArchived(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for name, before := range map[string]func(a, b *member){
		"by both": func(a, b *member) {
			a.archives(remotelab.Mission)
			a.pushArchive()
			b.archives(remotelab.Mission)
		},
		"here": func(a, b *member) {
			a.archives(remotelab.Mission)
			a.pushArchive()
		},
		"there": func(a, b *member) {
			b.archives(remotelab.Mission)
			b.pushArchive()
			a.fetch()
		},
		"there, with a turn": func(a, b *member) {
			b.turn(remotelab.Mission, "of b, with "+spilled)
			b.archives(remotelab.Mission)
			b.pushArchive()
		},
		"there, not pushed": func(a, b *member) {
			b.turn(remotelab.Mission, "of b, with "+spilled)
			b.archives(remotelab.Mission)
		},
		"and another one, which was never here": func(a, b *member) {
			b.turn("b1b2c3d4", "of b, with "+spilled)
			b.archives("b1b2c3d4")
			b.pushArchive()
		},
		"and goes on": func(a, b *member) {
			a.archives(remotelab.Mission)
			a.pushArchive()
			b.turn(remotelab.Mission, "of b, with "+spilled)
			b.pushAll()
			a.fetch()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !slices.Contains([]string{"here", "there, with a turn", "and goes on"}, name) {
				gittest.Nightly(t)
			}
			dir, a, b := newTeam(t)
			before(a, b)
			a.purge()
			a.pushPurges()
			b.fetch()
			b.pushAll()
			b.pushArchive()
			a.fetch()
			a.pushAll()
			a.pushArchive()
			host := a.In(dir + "/host")
			if found := holds(host, spilled, true); len(found) > 0 {
				t.Errorf("the host has %v in %s", found, host.Git("for-each-ref"))
			}
			for who, m := range map[string]*member{"a": a, "b": b} {
				if found := holds(m.Repo, spilled, false); len(found) > 0 {
					t.Errorf("%s has %v in %s", who, found, m.Git("for-each-ref"))
				}
				m.Git("fsck", "--strict")
			}
			fresh := &member{remotelab.CloneOf(t, host.Dir), dir + "/keys/b"}
			fresh.Clone.Fetch()
			if fresh.Git("for-each-ref", remotelab.Mission.Ref()) == "" {
				fresh.Clone.Fetch(remotelab.Mission)
			}
			want := []string{"common", "a [redacted:purged]"}
			if strings.Contains(name, "turn") || strings.Contains(name, "not pushed") || strings.Contains(name, "goes on") {
				want = append(want, "of b, with [redacted:purged]")
			}
			remotelab.Equal(t, "prompts", fresh.Prompts(remotelab.Mission), want)
		})
	}
}

// TestPurgeElsewhereStopped: a clone without a key takes over what another one has purged, and is stopped before its
// refs move. When that is completed it has the map as well, and nothing stays.
func TestPurgeElsewhereStopped(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	const id = "c1b2c3d4"
	_, a, b := newTeam(t)
	a.Git("switch", "-q", "-c", "agent/mission/"+id)
	a.turn(id, "a "+spilled)
	a.pushAll()
	a.purgeText("something that is in none")
	a.turn(id, "another sk-spilled-4712-abcdef")
	a.pushAll()
	a.purgeText("sk-spilled-4712-abcdef")
	a.pushPurges()
	if _, err := fetcher.Fetch(t.Context(), b.origin(), id); err != nil { // b has a map, which will be replaced
		t.Fatal(err)
	}
	b.keys = gittest.TempDir(t)
	b.trusts(a)
	a.purge()
	a.pushPurges()
	b.RefFiles()
	lock := filepath.Join(b.Dir, ".git", "refs", "heads", "agent", "mission", id+".lock")
	if err := os.WriteFile(lock, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := fetcher.Fetch(t.Context(), b.origin()); err == nil || !purge.Unfinished(b.workspace().Store) {
		t.Fatalf("fetch with a branch that is locked: %v", err)
	}
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	done, err := purge.Complete(t.Context(), b.workspace())
	if err != nil || len(done.Stays) > 0 {
		t.Fatalf("complete: %+v, %v", done, err)
	}
	if b.Git("rev-parse", purgemap.Ref) != a.Git("rev-parse", purgemap.Ref) {
		t.Error("b has another map")
	}
	b.fetch()
	if found := holds(b.Repo, spilled, false); len(found) > 0 {
		t.Errorf("b has %v", found)
	}
	b.Git("fsck", "--strict")
}

// newTeam is a host and two members who trust each other, with a mission in which something was spilled.
func newTeam(t *testing.T) (dir string, a, b *member) {
	t.Helper()
	dir = gittest.TempDir(t)
	in := gittest.New(t)
	in.Git("init", "-q", "--bare", "-b", "main", dir+"/host")
	in.Write("file", "1\n")
	in.Commit("first")
	in.Git("push", "-q", dir+"/host", "main")
	a, b = newMember(t, in, dir, "a"), newMember(t, in, dir, "b")
	a.trusts(b)
	b.trusts(a)
	a.turn(remotelab.Mission, "common")
	a.turn(remotelab.Mission, "a "+spilled)
	a.pushAll()
	b.fetch()
	return dir, a, b
}

// forge rewrites the mission of a clone with plain git, changes what change says, and pushes it with a map that
// says it is what the old one became, signed by a key of the member's.
func forge(m *member, change func(record string) string) {
	m.T.Helper()
	objects := m.Open().Objects(m.T.Context())
	defer objects.Close()
	chain := strings.Fields(m.Git("rev-list", "--first-parent", "--reverse", remotelab.Mission.Ref()))
	pairs := make(map[object.Hash]object.Hash)
	parent := ""
	for _, old := range chain {
		commit := m.Git("cat-file", "commit", old)
		if parent != "" {
			commit = strings.Replace(commit, "parent "+m.Git("rev-parse", old+"^1"), "parent "+parent, 1)
		}
		var tree object.Entry
		for line := range strings.Lines(m.Git("ls-tree", "-r", old)) {
			words := strings.Fields(line)
			if strings.HasPrefix(words[3], "turns/") {
				blob, err := objects.Write(plumbing.BlobObject, []byte(change(m.Git("cat-file", "blob", words[2]))+"\n"))
				if err != nil {
					m.T.Fatal(err)
				}
				tree = object.Entry{Hash: blob}
				root, err := objects.TreeOf(object.NewHash(old))
				if err != nil {
					m.T.Fatal(err)
				}
				if root, err = objects.EditTree(root, map[string]object.Entry{words[3]: {Mode: 0o100644, Hash: blob}}); err != nil {
					m.T.Fatal(err)
				}
				_, rest, _ := strings.Cut(commit, "\n")
				commit = "tree " + root.String() + "\n" + rest
			}
		}
		_ = tree
		head, message, _ := strings.Cut(commit, "\n\n")
		head, _, _ = strings.Cut(head, "\nagent-ledger")
		content := ledger.Sign([]byte(head+"\n\n"+message+"\n"), remotelab.Mission, trust.ReadKeys(m.keys, "").Own, m.Open().Format())
		fresh, err := objects.Write(plumbing.CommitObject, content)
		if err != nil {
			m.T.Fatal(err)
		}
		if parent = fresh.String(); parent != old {
			pairs[object.NewHash(old)] = fresh
		}
	}
	all, err := purgemap.Read(objects, object.Hash{})
	if err != nil {
		m.T.Fatal(err)
	}
	all.Add(*trust.ReadKeys(m.keys, "").Own, pairs)
	commit, err := all.Write(objects, func(sshsig.Public) bool { return true })
	if err == nil {
		err = objects.Flush()
	}
	if err != nil {
		m.T.Fatal(err)
	}
	m.Git("push", "-q", "-f", "origin", parent+":"+remotelab.Mission.Ref(), commit.String()+":"+purgemap.Ref)
}

// TestFakePurge: a map that a stranger signed changes nothing, nor does one of somebody trusted whose pairs do not
// prove themselves. A person may agree to the first, but not to the second.
func TestFakePurge(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for name, tt := range map[string]struct {
		trusted  bool
		change   func(string) string
		accepted bool // if a person agrees
	}{
		"stranger":         {false, func(s string) string { return strings.ReplaceAll(s, spilled, scrub.Mark) }, true},
		"trusted, more":    {true, func(s string) string { return strings.ReplaceAll(s, spilled, "something else") }, false},
		"trusted, outcome": {true, func(s string) string { return strings.ReplaceAll(s, `"outcome":"`, `"outcome":"x`) }, false},
		"stranger, more":   {false, func(s string) string { return strings.ReplaceAll(s, spilled, "something else") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, a, b := newTeam(t)
			if !tt.trusted {
				if err := trust.ReadKeys(b.keys, "").Remove(t.Context(), "a"); err != nil {
					t.Fatal(err)
				}
				w := b.workspace()
				if err := w.Trust.Accept(object.NewHash(b.Git("rev-parse", remotelab.Mission.Ref())), remotelab.Mission); err != nil {
					t.Fatal(err)
				}
			}
			before := remotelab.AgentRefs(b.Repo)
			forge(a, tt.change)
			for _, accept := range []bool{false, true} {
				r := b.origin()
				if accept {
					r.AcceptPurges = []record.ID{remotelab.Mission}
				}
				_, err := fetcher.Fetch(t.Context(), r)
				if accept && tt.accepted {
					if b.Prompts(remotelab.Mission)[1] != "a "+scrub.Mark {
						t.Errorf("accepted: %v, %q", err, b.Prompts(remotelab.Mission))
					}
					continue
				}
				held := (*fetcher.HeldError)(nil)
				if !errors.As(err, &held) || held.Unknown != (!tt.trusted && !accept) {
					t.Errorf("accepted %v: %v", accept, err)
				}
				after := remotelab.AgentRefs(b.Repo)
				delete(after, purgemap.Ref)
				if !maps.Equal(before, after) {
					t.Errorf("accepted %v: %v became %v", accept, before, after)
				}
			}
		})
	}
}

// TestHiddenRemoval: who agrees to what somebody unknown has purged of one mission does not agree to what a stranger
// has put beside it: that others were removed. That is said, and changes nothing else.
func TestHiddenRemoval(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	const other = "b2b2c3d4"
	dir, a, b := newTeam(t)
	if err := trust.ReadKeys(b.keys, "").Remove(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if err := b.workspace().Trust.Accept(object.NewHash(b.Git("rev-parse", remotelab.Mission.Ref())), remotelab.Mission); err != nil {
		t.Fatal(err)
	}
	b.turn(other, "of b")
	b.pushAll()
	a.purge()
	a.pushPurges()
	s := newMember(t, gittest.New(t), dir, "s")
	s.Git("fetch", "-q", "origin", purgemap.Ref+":"+purgemap.Ref)
	objects := s.Open().Objects(t.Context())
	defer objects.Close()
	m, err := purgemap.Read(objects, object.NewHash(s.Git("rev-parse", purgemap.Ref)))
	if err != nil {
		t.Fatal(err)
	}
	m.Add(*trust.ReadKeys(s.keys, "").Own, map[object.Hash]object.Hash{object.NewHash(b.Git("rev-parse", "refs/agent/missions/"+other)): {}})
	commit, err := m.Write(objects, func(sshsig.Public) bool { return true })
	if err == nil {
		err = objects.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	s.Git("push", "-q", "-f", "origin", commit.String()+":"+purgemap.Ref)

	_, err = fetcher.Fetch(t.Context(), b.origin())
	if err == nil || !strings.Contains(err.Error(), other+": it was purged at origin as a whole without a key") {
		t.Errorf("fetch: %v", err)
	}
	r := b.origin()
	r.AcceptPurges = []record.ID{remotelab.Mission}
	if _, err = fetcher.Fetch(t.Context(), r, remotelab.Mission); err == nil || !strings.Contains(err.Error(), other) {
		t.Errorf("accepted: %v", err)
	}
	if got := b.Prompts(remotelab.Mission)[1]; got != "a "+scrub.Mark {
		t.Errorf("what was accepted is %q", got)
	}
	remotelab.Equal(t, "the other mission", b.Prompts(other), []string{"of b"})
	b.turn(other, "more")
	b.pushAll()
	if got, want := b.In(dir+"/host").Git("rev-parse", "refs/agent/missions/"+other), b.Git("rev-parse", "refs/agent/missions/"+other); got != want {
		t.Errorf("the host has %s, want %s", got, want)
	}
	tip := b.Git("rev-parse", "refs/agent/missions/"+other)
	m.Add(*trust.ReadKeys(s.keys, "").Own, map[object.Hash]object.Hash{object.NewHash(tip): {}})
	if commit, err = m.Write(objects, func(sshsig.Public) bool { return true }); err == nil {
		err = objects.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	s.Git("push", "-q", "-f", "origin", commit.String()+":"+purgemap.Ref, ":refs/agent/missions/"+other, ":refs/notes/agent/"+other)
	r = b.origin()
	r.AcceptPurges = []record.ID{other}
	if _, err = fetcher.Fetch(t.Context(), r, other); err != nil {
		t.Errorf("accepted: %v", err)
	}
	if refs := remotelab.RefsOf(b.Repo, "refs/agent/missions/"); refs["refs/agent/missions/"+other] != "" {
		t.Errorf("there are %v", refs)
	}
}

// TestSpoiledMap: what somebody has put in the place of the map keeps no mission from being sent or fetched. It is
// named, and a purge puts a map there again.
func TestSpoiledMap(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, what := range []string{"blob", "tree", "too many"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			if what == "too many" { // a thousand signatures are checked many times
				gittest.Nightly(t)
			}
			dir, a, b := newTeam(t)
			host := a.In(dir + "/host")
			spoiled := host.Git("rev-parse", "main^{tree}")
			switch what {
			case "blob":
				spoiled = host.Git("rev-parse", "main:file")
			case "too many":
				spoiled = manySheets(t, a)
			}
			host.Git("update-ref", purgemap.Ref, spoiled)
			a.turn(remotelab.Mission, "new")
			a.pushAll()
			mended := host.Git("rev-parse", purgemap.Ref) != spoiled // by who has a map himself
			changes, err := fetcher.Fetch(t.Context(), b.origin())
			if named := err != nil && strings.Contains(err.Error(), "map of purged commits"); named == mended || len(changes) != 1 {
				t.Errorf("fetch: %v, %v", changes, err)
			}
			b.turn(remotelab.Mission, "of b")
			b.pushAll()
			b.purge()
			b.pushPurges()
			if found := holds(host, spilled, true); len(found) > 0 {
				t.Errorf("the host has %v", found)
			}
			a.fetch()
			if found := holds(a.Repo, spilled, false); len(found) > 0 {
				t.Errorf("a has %v", found)
			}
			remotelab.Equal(t, "the turns of a", a.Prompts(remotelab.Mission), b.Prompts(remotelab.Mission))
		})
	}
}

// TestPurgeOfMine: a commit of the user's own with which a turn ended is in a ledger. Who purges it, and is trusted,
// moves no branch of the user's, even if what he says proves itself.
func TestPurgeOfMine(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	const id = "c1b2c3d4"
	_, a, b := newTeam(t)
	b.Write("mine.go", "package mine\n")
	b.Write("of "+id, "p\n")
	b.Commit("my own work")
	b.turn(id, "p")
	b.pushAll()
	b.Git("push", "-q", "origin", "main")
	mine := b.Git("rev-parse", "main")
	b.Git("remote", "set-head", "origin", "main")
	before := remotelab.RefsOf(b.Repo, "refs/heads/", "refs/remotes/")

	a.fetch()
	_, rest, _ := strings.Cut(a.Git("cat-file", "commit", mine), "\n")
	fresh, err := a.Feed("tree "+a.Git("hash-object", "-t", "tree", "-w", "/dev/null")+"\n"+rest+"\n", "hash-object", "-t", "commit", "-w", "--stdin")
	if err != nil {
		t.Fatal(err)
	}
	fresh = strings.TrimSpace(fresh)
	objects := a.Open().Objects(t.Context())
	defer objects.Close()
	m, err := purgemap.Read(objects, object.Hash{})
	if err != nil {
		t.Fatal(err)
	}
	m.Add(*trust.ReadKeys(a.keys, "").Own, map[object.Hash]object.Hash{object.NewHash(mine): object.NewHash(fresh)})
	commit, err := m.Write(objects, func(sshsig.Public) bool { return true })
	if err == nil {
		err = objects.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	a.Git("push", "-q", "origin", commit.String()+":"+purgemap.Ref, fresh+":"+record.ID("e1b2c3d4").Ref())
	_, err = fetcher.Fetch(t.Context(), b.origin())
	if held := (*fetcher.HeldError)(nil); !errors.As(err, &held) || held.Beyond == nil || held.Beyond.Files == 0 { // files go as a whole
		t.Errorf("fetch: %v", err)
	}
	r := b.origin()
	r.AcceptPurges = []record.ID{id}
	_, err = fetcher.Fetch(t.Context(), r)
	if err == nil || !strings.Contains(err.Error(), "e1b2c3d4") { // that is no ledger
		t.Errorf("fetch: %v", err)
	}
	if kept := (*fetcher.KeptError)(nil); !errors.As(err, &kept) || !strings.Contains(err.Error(), "refs/heads/main") {
		t.Errorf("fetch says nothing of what main has: %v", err)
	}
	if after := remotelab.RefsOf(b.Repo, "refs/heads/", "refs/remotes/"); !maps.Equal(before, after) {
		t.Errorf("%v became %v", before, after)
	}
	if out := b.Git("status", "--porcelain"); out != "" {
		t.Errorf("status: %s", out)
	}
	b.Git("fsck", "--strict")
}

// manySheets writes a map that strangers have filled with more than is read, puts it at the host, and returns it.
func manySheets(t *testing.T, m *member) string {
	t.Helper()
	objects := m.Open().Objects(t.Context())
	defer objects.Close()
	files := make(map[string]object.Entry)
	for n := range 1001 {
		key, err := sshsig.NewKey(strings.NewReader(fmt.Sprintf("%032d", n)))
		if err != nil {
			t.Fatal(err)
		}
		list := fmt.Appendf(nil, "git-agent purges 1\n%064x %0*x\n", n, gittest.Digits(), n+1)
		content := append(list, sshsig.SignAs("git-agent-purges", key, list)...)
		blob, err := objects.Write(plumbing.BlobObject, content)
		if err != nil {
			t.Fatal(err)
		}
		files[fmt.Sprintf("%x.purges", sha256.Sum256(content))] = object.Entry{Mode: 0o100644, Hash: blob}
	}
	tree, err := objects.EditTree(object.Hash{}, files)
	if err == nil {
		err = objects.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	commit := m.Git("commit-tree", "-m", "purges", tree.String())
	m.Git("push", "-q", "origin", commit+":"+purgemap.Ref)
	return commit
}

// TestTwoPurges: two purge the same ledger at once, each another secret. What is at the remote wins, and neither
// secret stays.
func TestTwoPurges(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	const other = "hunter2-for-ever-and-ever"
	dir, a, b := newTeam(t)
	a.turn(remotelab.Mission, "and "+other)
	a.pushAll()
	b.fetch()
	b.turn(remotelab.Mission, "of b, with "+spilled+" and "+other)
	a.purge()
	a.pushPurges()
	b.purgeText(other)
	b.pushPurges()
	a.fetch()
	for name, m := range map[string]*member{"a": a, "b": b} {
		if found := holds(m.Repo, spilled, false); len(found) > 0 {
			t.Errorf("%s has %v", name, found)
		}
		if found := holds(m.Repo, other, false); len(found) > 0 {
			t.Errorf("%s has the other one: %v", name, found)
		}
		if len(m.Sides()) != 1 {
			t.Errorf("%s has %v", name, m.Sides())
		}
	}
	if found := append(holds(a.In(dir+"/host"), spilled, true), holds(a.In(dir+"/host"), other, true)...); len(found) > 0 {
		t.Errorf("the host has %v", found)
	}
	b.pushAll()
	a.fetch()
	remotelab.Equal(t, "the turns of a", a.Prompts(remotelab.Mission), b.Prompts(remotelab.Mission))
	if n := len(a.Prompts(remotelab.Mission)); n != 4 {
		t.Errorf("%d turns, want 4", n)
	}
}

// TestPurgedMission: a mission that was purged as a whole goes elsewhere too, but not where it has gone on.
func TestPurgedMission(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	_, a, b := newTeam(t)
	in := gittest.New(t)
	c := newMember(t, in, filepath.Dir(a.Dir), "c")
	c.trusts(a, b)
	c.fetch()
	c.turn(remotelab.Mission, "of c")
	p := &purge.Purge{Workspace: a.workspace(), Target: purgerewrite.Target{Missions: []record.ID{remotelab.Mission}}}
	plan, err := p.Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { plan.Close() }()
	if _, err := plan.Execute(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.pushPurges()
	if refs := remotelab.RefsOf(a.In(filepath.Dir(a.Dir)+"/host"), "refs/agent/missions/", "refs/notes/"); len(refs) > 0 {
		t.Errorf("the host has %v", refs)
	}
	b.fetch()
	if refs := remotelab.RefsOf(b.Repo, "refs/agent/missions/", "refs/notes/"); len(refs) > 0 {
		t.Errorf("b has %v", refs)
	}
	if found := holds(b.Repo, spilled, false); len(found) > 0 {
		t.Errorf("b has %v", found)
	}
	held := (*fetcher.HeldError)(nil)
	if _, err := fetcher.Fetch(t.Context(), c.origin()); !errors.As(err, &held) || !held.WentOn || held.Asks == nil || !slices.Equal(held.Asks.By, []string{"a"}) {
		t.Errorf("c: %v", err)
	}
	if n := len(c.Prompts(remotelab.Mission)); n != 3 {
		t.Errorf("c has %d turns, want 3", n)
	}
}

// TestPurgeKindsElsewhere: whatever is purged proves itself in another clone: whole turns, files, binary ones, names
// of files, authors. What a purged turn said may be said again.
func TestPurgeKindsElsewhere(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	finder, err := scrub.Fixed([]byte(spilled))
	if err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]purgerewrite.Target{
		"fixed": {Finder: finder},
		"turn":  {Turns: []record.TurnID{{Mission: remotelab.Mission, Turn: 3}}},
		"both":  {Finder: finder, Turns: []record.TurnID{{Mission: remotelab.Mission, Turn: 3}}},
		"path":  {Paths: gitdiff.Paths{Specs: []string{"sub/binary"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, a, b := newTeam(t)
			a.Write("sub/binary", "\x00\x01"+spilled)
			a.Write("sub/"+spilled, "by its name\n")
			a.Write("sub/text", "one\n"+spilled+"\n"+spilled+" again\n")
			a.turn(remotelab.Mission, "go on with the work")
			a.turn(remotelab.Mission, "and so on")
			a.pushAll()
			b.fetch()
			b.turn(remotelab.Mission, "go on with the work")
			p := &purge.Purge{Workspace: a.workspace(), Target: target}
			plan, err := p.Plan(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { plan.Close() }()
			if _, err := plan.Execute(t.Context()); err != nil {
				t.Fatal(err)
			}
			a.pushPurges()
			changes := b.fetch()
			if len(changes) == 0 || changes[0].Kind != fetcher.Purged {
				t.Errorf("b: %v", changes)
			}
			for _, id := range strings.Fields(a.Git("rev-list", "--first-parent", remotelab.Mission.Ref())) {
				if !strings.Contains(b.Git("rev-list", "--first-parent", remotelab.Mission.Ref()), id) {
					t.Errorf("b lacks %s", id)
				}
			}
			if got := b.Prompts(remotelab.Mission); len(got) != 5 || got[4] != "go on with the work" {
				t.Errorf("the turns of b: %q", got)
			}
			before := b.Prompts(remotelab.Mission)
			if len(target.Turns) > 0 && before[2] != scrub.Mark {
				t.Errorf("b has the purged turn: %q", before)
			}
			b.pushAll()
			a.fetch()
			remotelab.Equal(t, "the turns of a", a.Prompts(remotelab.Mission), before)
		})
	}
}

// purgeOrders is how many orders are tried.
var purgeOrders = flag.Int("purge-orders", 6, "how many orders of turn, purge, push and fetch are tried")

// TestPurgeConverge: four clones of a host, one with the old chain, one with turns of its own, one with a fork, and
// one whose program knows no purges. Whatever the order of turns, purges, archives, pushes and fetches: in the end nobody who
// knows of purges has the secret in any object, the host in none that a ref leads to, and no turn is lost.
func TestPurgeConverge(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	seed := newPurgeSeed(t)
	for n := range min(*purgeOrders, gittest.Size(*purgeOrders, 1)) {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			purgeConverge(t, seed, uint64(n))
		})
	}
}

const forked record.ID = "f0f0f0f0"

// newPurgeSeed is a host and four clones, with a mission in which something was spilled, and in one of them a
// fork of it.
func newPurgeSeed(t *testing.T) string {
	dir := gittest.TempDir(t)
	in := gittest.New(t)
	in.Git("init", "-q", "--bare", "-b", "main", dir+"/host")
	in.Write("file", "1\n")
	in.Commit("first")
	in.Git("push", "-q", dir+"/host", "main")
	var team []*member
	for _, name := range []string{"a", "b", "c", "old"} {
		team = append(team, newMember(t, in, dir, name))
	}
	for _, m := range team {
		for _, other := range team {
			if m != other {
				m.trusts(other)
			}
		}
	}
	a, c := team[0], team[2]
	a.turn(remotelab.Mission, "common")
	a.turn(remotelab.Mission, "a "+spilled)
	a.pushAll()
	for _, m := range team[1:] {
		m.fetch()
	}
	fork(c)
	return dir
}

// fork continues the mission under another name.
func fork(m *member) {
	m.T.Helper()
	m.Git("update-ref", forked.Ref(), remotelab.Mission.Ref())
	if err := m.workspace().Trust.Accept(object.NewHash(m.Git("rev-parse", remotelab.Mission.Ref())), forked); err != nil {
		m.T.Fatal(err)
	}
	m.turn(forked, "in the fork")
}

// pushOld pushes as a program of before does: what is rejected goes as a side.
func (m *member) pushOld() {
	m.T.Helper()
	for id := range m.Sides() {
		tip := m.Git("rev-parse", id.Ref())
		name := id
		for range 5 {
			if _, err := m.Try("push", "-q", "origin", tip+":"+name.Ref()); err == nil {
				break
			}
			m.Git("fetch", "-q", "origin", "+refs/agent/*:refs/there/*")
			there := strings.Fields(m.Git("rev-list", "--first-parent", "--reverse", tip, "^refs/there/missions/"+string(name)))
			if len(there) == 0 {
				break
			}
			name = record.ID(there[0][:12])
		}
		for ref := range remotelab.RefsOf(m.Repo, "refs/there/") {
			m.Git("update-ref", "-d", ref)
		}
	}
}

func purgeConverge(t *testing.T, seed string, n uint64) {
	dir := gittest.TempDir(t)
	if err := os.CopyFS(dir, os.DirFS(seed)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "c", "old"} {
		_ = os.Chmod(dir+"/keys/"+name+"/key", 0o600)
	}
	in := gittest.New(t)
	host := in.In(dir + "/host")
	team := make(map[string]*member)
	for _, name := range []string{"a", "b", "c", "old"} {
		team[name] = &member{&remotelab.Clone{Repo: in.In(dir + "/" + name), T: t}, dir + "/keys/" + name}
	}
	r := mathrand.New(mathrand.NewPCG(n, 2026))
	var said []string
	did := func(name, what string) { said = append(said, name+" "+what) }
	defer func() {
		if t.Failed() {
			t.Logf("order %d: %s", n, strings.Join(said, ", "))
		}
	}()
	turns := 0
	turn := func(name string) {
		m := team[name]
		ids := m.missions()
		id := ids[r.IntN(len(ids))]
		turns++
		prompt := fmt.Sprintf("turn %d of %s", turns, name)
		if r.IntN(3) == 0 && name != "old" {
			prompt += " says " + spilled
		}
		m.turn(id, prompt)
		did(name, "turn in "+string(id))
	}
	for range gittest.Size(12, 8) {
		name := []string{"a", "b", "c", "old"}[r.IntN(4)]
		m := team[name]
		switch what := r.IntN(6); {
		case what == 0 || what == 1:
			turn(name)
		case name == "old":
			did(name, "push")
			m.pushOld()
		case what == 2:
			did(name, "purge and push")
			m.purge()
			m.pushPurges()
		case what == 3:
			did(name, "push")
			m.pushAll()
		case what == 4:
			did(name, "archive and push")
			ids := m.missions()
			m.archives(ids[r.IntN(len(ids))])
			m.pushArchive()
		default:
			did(name, "fetch")
			m.fetch()
		}
	}
	for _, name := range []string{"b", "c", "a"} {
		did(name, "purge and push")
		team[name].purge()
		team[name].pushPurges()
		team[name].pushAll()
	}
	for range 2 {
		for _, name := range []string{"a", "b", "c"} {
			team[name].fetch()
			team[name].pushPurges()
			team[name].pushAll()
			team[name].pushArchive()
		}
	}
	settled := states(host, team)
	for _, name := range []string{"a", "b", "c"} {
		m := team[name]
		m.fetch()
		m.pushPurges()
		m.pushAll()
		m.pushArchive()
	}
	remotelab.Equal(t, "the refs when all have pushed and fetched", states(host, team), settled)
	for _, name := range []string{"a", "b", "c"} {
		team[name].fetchArchived(host)
	}
	if found := holds(host, spilled, true); len(found) > 0 {
		t.Errorf("the host has %v", found)
	}
	for _, name := range []string{"a", "b", "c"} {
		m := team[name]
		if found := holds(m.Repo, spilled, false); len(found) > 0 {
			t.Errorf("%s has %v", name, found)
		}
		m.Git("fsck", "--strict", "--no-dangling")
		var all []string
		for _, id := range m.missions() {
			all = append(all, m.Prompts(id)...)
		}
		for n := range turns {
			begin := fmt.Sprintf("turn %d of ", n+1)
			if !slices.ContainsFunc(all, func(p string) bool { return strings.HasPrefix(p, begin) }) {
				if slices.ContainsFunc(team["old"].allPrompts(), func(p string) bool { return strings.HasPrefix(p, begin) }) {
					continue // it was never pushed
				}
				t.Errorf("%s has lost turn %d", name, n+1)
			}
		}
		if !slices.Contains(all, "in the fork") {
			t.Errorf("%s has lost the fork", name)
		}
	}
}

// states are the refs of the host and of those who know of purges.
func states(host *gittest.Repo, team map[string]*member) (all []string) {
	for name, r := range map[string]*gittest.Repo{"host": host, "a": team["a"].Repo, "b": team["b"].Repo, "c": team["c"].Repo} {
		for ref, hash := range remotelab.RefsOf(r, "refs/agent/") {
			all = append(all, fmt.Sprint(name, " ", ref, " ", hash))
		}
	}
	slices.Sort(all)
	return all
}

func (m *member) allPrompts() (all []string) {
	for _, id := range m.missions() {
		all = append(all, m.Prompts(id)...)
	}
	return all
}

// missions are those of a member, archived ones too.
func (m *member) missions() []record.ID {
	m.T.Helper()
	all, err := ledger.ListAll(m.T.Context(), m.Open())
	if err != nil {
		m.T.Fatal(err)
	}
	return slices.Sorted(maps.Keys(all))
}

// fetchArchived fetches what the host has archived.
func (m *member) fetchArchived(host *gittest.Repo) {
	m.T.Helper()
	tip, ok := remotelab.RefsOf(host, ledger.ArchiveRef)[ledger.ArchiveRef]
	if !ok {
		return
	}
	m.Git("fetch", "-q", "origin", ledger.ArchiveRef) // it knows it already, unless nothing there concerned it
	objects := m.Open().Objects(m.T.Context())
	defer objects.Close()
	index, err := ledger.OpenArchive(objects, object.NewHash(tip))
	if err != nil {
		m.T.Fatal(err)
	}
	for e, err := range index.All() {
		if err != nil {
			m.T.Fatal(err)
		}
		if !e.Gone() {
			m.fetch(e.ID)
		}
	}
}
