package pusher_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"gitagent/internal/fetcher"
	"gitagent/internal/git"
	"gitagent/internal/purge"
	"gitagent/internal/purgerewrite"
	"gitagent/internal/pusher"
	"gitagent/internal/record"
	"gitagent/internal/scrub"
	"gitagent/test/gittest"
	"gitagent/test/remotelab"
)

// purgeMissions purges missions as a whole.
func (m *member) purgeMissions(ids ...record.ID) {
	m.T.Helper()
	p := &purge.Purge{Workspace: m.workspace(), Target: purgerewrite.Target{Missions: ids}}
	plan, err := p.Plan(m.T.Context())
	if err != nil {
		m.T.Fatal(err)
	}
	defer func() { plan.Close() }()
	if _, err := plan.Execute(m.T.Context()); err != nil {
		m.T.Fatal(err)
	}
}

// asked fetches, and returns what a person is asked about.
func (m *member) asked() *purge.Held {
	m.T.Helper()
	_, err := fetcher.Fetch(m.T.Context(), m.origin())
	held := (*fetcher.HeldError)(nil)
	if !errors.As(err, &held) || held.Asks == nil {
		m.T.Fatalf("fetch: %v, want what a person is asked about", err)
	}
	return held.Asks
}

// TestPurgedTwice: who has purged a text of somebody else's mission has signed all of it anew, but has not written it:
// all of it goes no more easily than before.
func TestPurgedTwice(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	_, a, b := newTeam(t)
	b.purge()
	b.pushPurges()
	a.fetch()
	if found := holds(a.Repo, spilled, false); len(found) > 0 {
		t.Errorf("a has %v", found)
	}
	b.purgeMissions(remotelab.Mission)
	b.pushPurges()
	if asks := a.asked(); !asks.Gone || asks.Turns != 2 || len(asks.By) != 1 || asks.By[0] != "b" {
		t.Errorf("a is asked about %+v", asks)
	}
	if n := len(a.Prompts(remotelab.Mission)); n != 2 {
		t.Errorf("a has %d turns, want 2", n)
	}
}

// TestBeyond: of a colleague's purge of what people said, however large the files are, and of lines that files of
// HEAD have in common, nothing goes without a question. A secret that the same key has purged in another mission does.
func TestBeyond(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	const said, secret = "b1b2c3d4", "c1b2c3d4"
	_, a, b := newTeam(t)
	a.Write("large", strings.Repeat("0123456789abcdef\n", 1<<16))
	for n := range 5 {
		a.Write(fmt.Sprintf("%d.go", n), fmt.Sprintf("package p\n\nvar n = %d\n}\n\nfunc F() {\n", n))
	}
	a.Commit("files")
	words := []string{"first of all", "what is next", "more of that", "and the tests", "the tests fail", "say it shorter", "no, as it was", "now the docs", "and that is all"}
	for n := range words {
		words[n] = strings.Repeat(words[n]+"; ", 20) + "so"
		a.turn(said, words[n])
	}
	a.turn(secret, "use hunter2-secret-key")
	a.pushAll()
	b.fetch()
	held := func(texts ...string) []record.ID {
		var finders []*scrub.Finder
		for _, text := range texts {
			finder, err := scrub.Fixed([]byte(text))
			gittest.Must(t, err)
			finders = append(finders, finder)
		}
		b.purgeWhat(scrub.Or(finders...))
		b.pushPurges()
		_, err := fetcher.Fetch(t.Context(), a.origin())
		var list []record.ID
		for _, h := range fetcher.HeldIn(err) {
			list = append(list, h.Mission)
		}
		return list
	}
	if list := held(append(words, "hunter2-secret-key")...); !slices.Equal(list, []record.ID{said}) {
		t.Errorf("held are %v", list)
	}
	if got := a.Prompts(said); !slices.Equal(got, words) {
		t.Errorf("what was said is %q", got)
	}
	if got := a.Prompts(secret); len(got) != 1 || got[0] != "use [redacted:purged]" {
		t.Errorf("with the secret there is %q", got)
	}
	if list := held("\n}\n\nfunc "); !slices.Contains(list, secret) {
		t.Errorf("held are %v", list)
	}
}

// TestHeldStays: what is held is sent nowhere, under no name: not as a fork, not in the archive, and not as new to a
// host that has it no more. It goes as soon as a person agrees, and not from anywhere else before.
func TestHeldStays(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	const other = "b1b2c3d4"
	dir, a, b := newTeam(t)
	host := a.In(dir + "/host")
	a.turn(other, "to be archived")
	a.pushAll()
	b.fetch()
	b.purgeMissions(remotelab.Mission, other)
	b.pushPurges()
	a.turn(remotelab.Mission, "a goes on") // a has not heard of it
	for _, what := range []string{"alone", "again"} {
		p, err := pusher.Push(t.Context(), a.origin(), remotelab.Mission)
		if err != nil || !p.Held || p.Sent {
			t.Errorf("%s: %+v, %v, want that it is held", what, p, err)
		}
	}
	fork(a)
	a.archives(other)
	a.turn("c1b2c3d4", "of its own")
	done, err := pusher.PushAll(t.Context(), a.origin(), nil)
	if err != nil {
		t.Error(err)
	}
	held := make(map[record.ID]bool)
	for _, p := range done {
		held[p.Mission] = p.Held
	}
	if !held[remotelab.Mission] || !held[forked] || held["c1b2c3d4"] {
		t.Errorf("held are %v", held)
	}
	a.pushArchive()
	if refs := remotelab.RefsOf(host, "refs/agent/missions/"); len(refs) != 1 || refs["refs/agent/missions/c1b2c3d4"] == "" {
		t.Errorf("the host has %v", refs)
	}
	if found := holds(host, "answer to to be archived", true); len(found) > 0 {
		t.Errorf("the host has %v", found)
	}
	if n := len(a.Prompts(remotelab.Mission)); n != 3 {
		t.Errorf("a has %d turns, want 3", n)
	}

	r := a.origin()
	r.AcceptPurges = []record.ID{remotelab.Mission, other, forked}
	if _, err := fetcher.Fetch(t.Context(), r, remotelab.Mission); err != nil && !errors.As(err, new(*fetcher.HeldError)) {
		t.Error(err)
	}
	if refs := remotelab.RefsOf(a.Repo, "refs/agent/missions/"); len(refs) != 1 {
		t.Errorf("a has %v", refs)
	}
	a.Git("fsck", "--strict")
	if held, err := purge.AllHeld(a.workspace().Store); err != nil || len(held) > 0 {
		t.Errorf("held are %v, %v", held, err)
	}

	a.fetch()
}

// TestHeldAmongMany: however many missions there are, a push looks for what is held with as many processes.
func TestHeldAmongMany(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	_, a, b := newTeam(t)
	b.purgeMissions(remotelab.Mission)
	b.pushPurges()
	a.asked()
	processes := func(ids ...record.ID) int {
		for _, id := range ids {
			a.turn(id, "of its own")
		}
		a.pushAll()
		trace := filepath.Join(t.TempDir(), "trace")
		r := a.origin()
		r.Repo = r.Repo.With(git.Env("GIT_TRACE2_EVENT=" + trace))
		if _, err := pusher.PushAll(t.Context(), r, nil); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(trace)
		gittest.Must(t, err)
		return strings.Count(string(data), `"event":"start"`)
	}
	few := processes("c1b2c3d4")
	if many := processes("c2b2c3d4", "c3b2c3d4", "c4b2c3d4"); many != few {
		t.Errorf("%d processes for 5 missions, %d for two", many, few)
	}
}

// TestHeldOneByOne: a person agrees to one purge, everything is sent, and they agree to the other one later.
func TestHeldOneByOne(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	const other = "b1b2c3d4"
	_, a, b := newTeam(t)
	a.turn(other, "another")
	a.pushAll()
	b.fetch()
	b.purgeMissions(remotelab.Mission, other)
	b.pushPurges()
	a.asked()
	for _, id := range []record.ID{remotelab.Mission, other} {
		r := a.origin()
		r.AcceptPurges = []record.ID{id}
		if _, err := fetcher.Fetch(t.Context(), r); err != nil && !errors.As(err, new(*fetcher.HeldError)) {
			t.Error(err)
		}
		if purge.IsHeld(a.workspace().Store, id) || len(remotelab.RefsOf(a.Repo, id.Ref())) > 0 {
			t.Errorf("mission %s is there", id)
		}
		a.pushAll()
		if _, err := fetcher.Fetch(t.Context(), a.origin()); err != nil && !errors.As(err, new(*fetcher.HeldError)) {
			t.Error(err)
		}
	}
}

// TestPurgesAtOnce: others' purges are held, and let go, by several fetches, while a session records and somebody purges
// here: from two worktrees. Nothing that was recorded is lost, nothing that was purged stays, and what is held is sent
// nowhere.
func TestPurgesAtOnce(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	const held, own, going = record.ID("b1b2c3d4"), record.ID("c1b2c3d4"), record.ID("d1b2c3d4")
	dir, a, b := newTeam(t)
	host := a.In(dir + "/host")
	for id, words := range map[record.ID]string{held: "to be held", own: "use marmalade-battery-horse"} {
		a.turn(id, words)
		gittest.Must(t, os.Remove(filepath.Join(a.Dir, "of "+string(id)))) // else what is recorded next has it as well
	}
	a.pushAll()
	b.fetch()
	b.purge()
	b.purgeMissions(held)
	b.pushPurges()
	linked := filepath.Join(filepath.Dir(a.Dir), "linked")
	a.Git("worktree", "add", "-q", "--detach", linked)
	there := &member{Clone: &remotelab.Clone{Repo: a.In(linked), T: t}, keys: a.keys}

	var all sync.WaitGroup
	fetched := func(m *member, accepted ...record.ID) {
		all.Go(func() {
			r := m.origin()
			r.AcceptPurges = accepted
			if _, err := fetcher.Fetch(t.Context(), r); err != nil && !errors.As(err, new(*fetcher.HeldError)) {
				t.Error(err)
			}
		})
	}
	recorded := func(m *member, words string) {
		all.Go(func() {
			for n := range 2 {
				m.turn(going, fmt.Sprintf("%s %d", words, n))
			}
		})
	}
	fetched(a)
	fetched(there)
	recorded(a, "meanwhile")
	all.Wait()
	for _, m := range []*member{a, there} {
		if !purge.IsHeld(m.workspace().Store, held) {
			t.Errorf("in %s it is not held", m.Dir)
		}
		if found := holds(m.Repo, spilled, false); len(found) > 0 {
			t.Errorf("%s has %v", m.Dir, found)
		}
	}
	there.pushAll()
	if found := holds(host, "to be held", true); len(found) > 0 {
		t.Errorf("the host has %v", found)
	}
	if got := a.Prompts(held); len(got) != 1 {
		t.Errorf("what is held has %q", got)
	}

	fetched(a, held)
	fetched(there, held)
	recorded(there, "then")
	all.Go(func() { a.purgeText("marmalade-battery-horse") })
	all.Wait()
	a.fetch()
	if refs := remotelab.RefsOf(a.Repo, held.Ref()); len(refs) > 0 || purge.IsHeld(a.workspace().Store, held) || purge.Unfinished(a.workspace().Store) {
		t.Errorf("a has %v, or it is held, or not done", refs)
	}
	for _, text := range []string{spilled, "to be held", "marmalade-battery-horse"} {
		if found := holds(a.Repo, text, false); len(found) > 0 {
			t.Errorf("of %q there is %v", text, found)
		}
	}
	if got := a.Prompts(going); len(got) != 4 {
		t.Errorf("recorded was %q", got)
	}
	if refs := remotelab.RefsOf(a.Repo, "refs/agent/missions/"); len(refs) != 3 {
		t.Errorf("the missions are %v", refs)
	}
	a.Git("fsck", "--strict")
}

// TestHeldNowhere: nobody is asked about a mission that is nowhere any more.
func TestHeldNowhere(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	dir, a, b := newTeam(t)
	host := a.In(dir + "/host")
	a.pushAll()
	b.fetch()
	a.purgeMissions(remotelab.Mission)
	a.pushPurges()
	tip := b.Git("rev-parse", record.ID(remotelab.Mission).Ref())
	b.turn(remotelab.Mission, "b goes on")
	b.Git("push", dir+"/host", record.ID(remotelab.Mission).Ref()) // with a program that knows no purges
	held := func() []purge.Held {
		if _, err := fetcher.Fetch(t.Context(), a.origin()); err != nil && !errors.As(err, new(*fetcher.HeldError)) {
			t.Fatal(err)
		}
		list, err := purge.AllHeld(a.workspace().Store)
		gittest.Must(t, err)
		return list
	}
	if list := held(); len(list) != 1 || list[0].Here {
		t.Fatalf("of what went on from %s there are held %+v", tip, list)
	}
	host.Git("update-ref", "-d", record.ID(remotelab.Mission).Ref())
	if list := held(); len(list) != 0 {
		t.Errorf("of what is nowhere there are held %+v", list)
	}
}

// TestAgreedFails: what a person has let go, but could not go, is held as before.
func TestAgreedFails(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	_, a, b := newTeam(t)
	a.pushAll()
	b.fetch()
	b.purgeMissions(remotelab.Mission)
	b.pushPurges()
	r := a.origin()
	if _, err := fetcher.Fetch(t.Context(), r); !errors.As(err, new(*fetcher.HeldError)) {
		t.Fatalf("a fetches: %v", err)
	}
	r.AcceptPurges = []record.ID{remotelab.Mission}
	inWay := filepath.Join(a.Dir, ".git", "agent", "purge") // where the list of what is to be done goes
	gittest.Must(t, os.WriteFile(inWay, nil, 0o666))
	if _, err := fetcher.Fetch(t.Context(), r); err == nil || errors.As(err, new(*fetcher.HeldError)) {
		t.Fatalf("a lets go, with a file in the way: %v", err)
	}
	if !purge.IsHeld(a.workspace().Store, remotelab.Mission) {
		t.Error("it is held no longer, and still there")
	}
	gittest.Must(t, os.Remove(inWay))
	if _, err := fetcher.Fetch(t.Context(), r); err != nil && !errors.As(err, new(*fetcher.HeldError)) {
		t.Fatal(err)
	}
	if refs := remotelab.RefsOf(a.Repo, "refs/agent/missions/"); len(refs) != 0 || purge.IsHeld(a.workspace().Store, remotelab.Mission) {
		t.Errorf("a has %v", refs)
	}
}
