package handoffstore

import (
	"encoding/json"
	"fmt"
	"os"
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
)

// TestMain keeps the developer's own configuration out.
func TestMain(m *testing.M) { os.Exit(gittest.Tests{M: m}.Run()) }

const mission = record.ID("a1b2c3d4")

// A lab is a repository with a store.
type lab struct {
	*gittest.Repo
	*Store
	t   testing.TB
	now time.Time
}

func newLab(t testing.TB) *lab {
	t.Helper()
	r := gittest.New(t)
	r.Do("file=1; commit first")
	return openLab(t, r)
}

func openLab(t testing.TB, r *gittest.Repo) *lab {
	t.Helper()
	repo, err := git.Find(r.Dir)
	gittest.Must(t, err)
	return &lab{
		Repo: r, t: t, now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC),
		Store: &Store{Workspace: workspace.New(repo, config.Default())},
	}
}

// turn records a turn as package turns does, as far as handoffs read it. All turns end in HEAD.
func (l *lab) turn(number int, session, outcome, prompt, reply string) {
	l.t.Helper()
	objects := l.Store.Repo.Objects(l.t.Context())
	defer objects.Close()
	m, err := ledger.Open(l.t.Context(), l.Store.Repo, objects, mission)
	old := object.Hash{}
	if err == nil {
		old = m.Tip
	} else {
		m = ledger.New(objects, &record.Mission{V: record.Version, ID: mission, Created: l.now})
	}
	m.Mission.AddSession(session)
	code := l.Git("rev-parse", "HEAD")
	record, err := json.Marshal(map[string]any{
		"v": 1, "kind": "turn", "mission": mission, "turn": number, "at": l.now, "outcome": outcome, "agent": "claude-code",
		"session": session, "prompt": prompt, "reply": reply, "code": code,
	})
	gittest.Must(l.t, err)
	config, err := l.Store.Repo.Config(l.t.Context())
	gittest.Must(l.t, err)
	tip, err := m.Append(ledger.Event{
		Subject: fmt.Sprintf("turn %d", number), Files: map[string][]byte{ledger.TurnPath("turns", number, ".json"): record},
		Author: config.Author(l.now), Committer: config.Committer(l.now),
	})
	gittest.Must(l.t, err)
	gittest.Must(l.t, objects.Flush())
	gittest.Must(l.t, l.Trust.Own(mission, tip, old))
	gittest.Must(l.t, l.Store.Repo.UpdateRefs(l.t.Context(), "test", []git.Update{{Ref: mission.Ref(), New: tip, Old: old}}))
}

// gather hands off so long after the lab's beginning.
func (l *lab) gather(after time.Duration, r Request) *Gathered {
	l.t.Helper()
	r.At, r.Mission = l.now.Add(after), mission
	if r.Exit == "" {
		r.Exit = record.Clean
	}
	g, err := l.Gather(l.t.Context(), r)
	gittest.Must(l.t, err)
	return g
}

func (l *lab) find(name string) *Found {
	l.t.Helper()
	f, err := Find(l.t.Context(), l.Store.Repo, mission, name)
	gittest.Must(l.t, err)
	l.t.Cleanup(f.Close)
	return f
}

// fsck fails the test unless git finds the repository sound.
func (l *lab) fsck() {
	l.t.Helper()
	if out, err := l.Try("fsck", "--strict", "--no-dangling"); err != nil || out != "" {
		l.t.Errorf("git fsck --strict: %v\n%s", err, out)
	}
}

func document(t testing.TB, text string) *Document {
	t.Helper()
	d, err := ReadDocument(nil, strings.NewReader(text), "HANDOFF.md")
	gittest.Must(t, err)
	return d
}
