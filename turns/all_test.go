package turns_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/workspace"
	"gitagent/test/gittest"
	"gitagent/turns"
)

// A grove is missions that were made at random, and what is known of them.
type grove struct {
	t        *testing.T
	repo     *gittest.Repo
	objects  *git.Objects
	code     object.Hash
	rand     *rand.Rand
	now      time.Time
	missions map[record.ID]*tree
	say      func(*turns.Turn) (segment []byte) // fills in what was said in a turn; may be nil
}

// A tree is a mission of a grove.
type tree struct {
	id    record.ID
	began record.ID
	turns []grown // in order
}

// A grown is a turn of a tree, as it stands there.
type grown struct {
	id      record.TurnID
	started time.Time
	at      time.Time
	commit  object.Hash // the ledger's, when it had been recorded
}

func newGrove(t *testing.T, seed uint64) *grove {
	r := gittest.New(t)
	repo, err := git.Find(r.Dir)
	gittest.Must(t, err)
	objects := repo.Objects(context.Background())
	t.Cleanup(objects.Close)
	g := &grove{
		t: t, repo: r, objects: objects, rand: rand.New(rand.NewPCG(seed, 0)),
		now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), missions: make(map[record.ID]*tree),
	}
	g.code = object.NewHash(r.Git("commit-tree", "-m", "code", r.Git("mktree", "--missing")))
	return g
}

// tick lets some time pass, more or less than a second.
func (g *grove) tick() time.Time {
	g.now = g.now.Add(time.Duration(1+g.rand.IntN(3000)) * time.Millisecond)
	return g.now
}

// some is a mission, at random.
func (g *grove) some() *tree {
	var ids []string
	for id := range g.missions {
		ids = append(ids, string(id))
	}
	slices.Sort(ids)
	return g.missions[record.ID(ids[g.rand.IntN(len(ids))])]
}

// event adds an event to a ledger that is as in a commit, if that is not zero, and has a mission.
func (g *grove) event(m *record.Mission, at object.Hash, files map[string][]byte) object.Hash {
	l := ledger.New(g.objects, m)
	if !at.IsZero() {
		var err error
		l, err = ledger.At(g.objects, m.ID, at)
		gittest.Must(g.t, err)
		l.ID, l.Mission = m.ID, m
	}
	who := object.Signature{Name: "a", Email: "b", When: g.now}
	commit, err := l.Append(ledger.Event{Subject: "event", Files: files, Author: who, Committer: who})
	gittest.Must(g.t, err)
	return commit
}

// head is a mission's head as it is in one of the commits of its ledger.
func (g *grove) head(id record.ID, commit object.Hash) *record.Mission {
	l, err := ledger.At(g.objects, id, commit)
	gittest.Must(g.t, err)
	return l.Mission
}

// record records a turn of a mission on top of one of its ledger's commits.
func (g *grove) record(began record.ID, number int, started time.Time, on object.Hash) grown {
	t := turns.Turn{V: 1, Kind: "turn", Mission: began, Turn: number, Started: started, At: g.tick(), Outcome: record.Done, Code: g.code}
	files := make(map[string][]byte)
	if g.say != nil {
		files[ledger.TurnPath("transcript", number, ".jsonl")] = g.say(&t)
	}
	data, err := t.Encode()
	gittest.Must(g.t, err)
	m := &record.Mission{V: 1, ID: began, Created: g.now}
	if !on.IsZero() {
		m = g.head(began, on)
	}
	files[ledger.TurnPath("turns", number, ".json")] = append(data, '\n')
	commit := g.event(m, on, files)
	return grown{t.ID(), started, t.At, commit}
}

// grow does one thing at random.
func (g *grove) grow() {
	fresh := record.ID(fmt.Sprintf("%08x", g.rand.Uint32()))
	what := g.rand.IntN(20)
	if len(g.missions) == 0 {
		what = 0
	}
	switch {
	case what < 2: // a mission
		g.missions[fresh] = &tree{id: fresh, began: fresh, turns: []grown{g.record(fresh, 1, g.tick(), object.Hash{})}}
	case what < 12: // a turn
		m := g.some()
		last := m.turns[len(m.turns)-1]
		m.turns = append(m.turns, g.record(m.began, last.id.Turn+1, g.tick(), last.commit))
	case what < 14: // a turn is recorded again
		m := g.some()
		if last := &m.turns[len(m.turns)-1]; last.id.Mission == m.began {
			*last = g.record(m.began, last.id.Turn, last.started, last.commit)
		}
	case what < 18: // a fork, at a turn or before it
		m := g.some()
		n := g.rand.IntN(len(m.turns))
		from, before := m.turns[n], n > 0 && g.rand.IntN(3) == 0
		if before {
			n--
		}
		g.tick()
		commit := g.event(&record.Mission{V: 1, ID: fresh, Created: g.now, ForkedFrom: &from.id}, m.turns[n].commit, nil)
		f := &tree{id: fresh, began: fresh, turns: slices.Clone(m.turns[:n+1])}
		f.turns[n].commit = commit
		g.missions[fresh] = f
	case what == 18: // a mission goes on in two clones
		m := g.some()
		n := g.rand.IntN(len(m.turns))
		if m.turns[n].id.Mission != m.began {
			return // the fork itself begins behind that
		}
		t := g.record(m.began, m.turns[n].id.Turn+1, g.tick(), m.turns[n].commit)
		id := record.OfCommit(t.commit)
		g.missions[id] = &tree{id: id, began: m.began, turns: append(slices.Clone(m.turns[:n+1]), t)}
	default: // a mission is removed
		delete(g.missions, g.some().id)
	}
}

// plant writes the refs.
func (g *grove) plant() *git.Repo {
	gittest.Must(g.t, g.objects.Flush())
	var in strings.Builder
	for id, m := range g.missions {
		fmt.Fprintf(&in, "create %s %s\n", id.Ref(), m.turns[len(m.turns)-1].commit)
	}
	if _, err := g.repo.Feed(in.String(), "update-ref", "--stdin"); err != nil {
		g.t.Fatal(err)
	}
	repo, err := git.Find(g.repo.Dir)
	gittest.Must(g.t, err)
	return repo
}

// has reports whether a mission has a turn.
func (m *tree) has(id record.TurnID, started time.Time) bool {
	return m != nil && slices.ContainsFunc(m.turns, func(t grown) bool { return t.id == id && t.started.Equal(started) })
}

// named is how the tests name a turn.
func named(id record.TurnID, started time.Time) string {
	return fmt.Sprint(id, " of ", started.UTC().Format(time.StampMilli))
}

// workspaceOf is what a command works on, without a key.
func workspaceOf(repo *git.Repo) *workspace.Workspace { return workspace.New(repo, config.Default()) }

// TestEachOfAll compares with a model: every turn is handed over once, the newest first, and as its
// own mission's if that is there.
func TestEachOfAll(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for seed := range uint64(gittest.Size(40, 8)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			g := newGrove(t, seed)
			for range 120 {
				g.grow()
			}
			wanted := make(map[string]bool)
			for _, m := range g.missions {
				for _, t := range m.turns {
					wanted[named(t.id, t.started)] = true
				}
			}
			repo := g.plant()
			last := g.now
			err := turns.EachOfAll(context.Background(), workspaceOf(repo), func(turn *turns.Turn) error {
				name := named(turn.ID(), turn.Started)
				if !wanted[name] {
					t.Errorf("%s in mission %s is handed over twice, or is not there", name, turn.In())
				}
				delete(wanted, name)
				if turn.At.After(last) {
					t.Errorf("%s is newer than the one before", name)
				}
				last = turn.At
				if home := g.missions[turn.Mission]; !g.missions[turn.In()].has(turn.ID(), turn.Started) || turn.In() != turn.Mission && home.has(turn.ID(), turn.Started) {
					t.Errorf("%s is handed over as one of mission %s", name, turn.In())
				}
				return nil
			})
			gittest.Must(t, err)
			for name := range wanted {
				t.Errorf("%s is missing", name)
			}
		})
	}
}

// An error of the caller ends the walk, and what is broken hides nothing else.
func TestEachOfAllBroken(t *testing.T) {
	t.Parallel()
	g := newGrove(t, 1)
	for range 60 {
		g.grow()
	}
	repo := g.plant()
	sound := 0
	count := func(*turns.Turn) error { sound++; return nil }
	if err := turns.EachOfAll(context.Background(), workspaceOf(repo), count); err != nil || sound < 10 {
		t.Fatalf("%d turns, %v", sound, err)
	}
	g.repo.Git("update-ref", "refs/agent/missions/bad0bad0", g.code.String())
	g.repo.Git("update-ref", "refs/agent/missions/bad0bad1", g.repo.Git("mktree", "--missing"))
	found := 0
	err := turns.EachOfAll(context.Background(), workspaceOf(repo), func(*turns.Turn) error { found++; return nil })
	if found != sound || !errors.As(err, new(*ledger.UnreadError)) || !strings.Contains(err.Error(), "bad0bad0") || !strings.Contains(err.Error(), "bad0bad1") {
		t.Errorf("%d turns of %d, %v", found, sound, err)
	}
	found, stop := 0, errors.New("stop")
	if err := turns.EachOfAll(context.Background(), workspaceOf(repo), func(*turns.Turn) error { found++; return stop }); !errors.Is(err, stop) || found != 1 {
		t.Errorf("%d turns, %v; want 1 and the error", found, err)
	}
}
