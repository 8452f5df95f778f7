package handoffstore

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/test/gittest"
)

// alike makes missions of what the lab's mission is, as its forks have it, each with a change of its own.
func (l *lab) alike(ids []record.ID, change func(id record.ID) map[string][]byte) {
	l.t.Helper()
	objects := l.Store.Repo.Objects(l.t.Context())
	defer objects.Close()
	config, err := l.Store.Repo.Config(l.t.Context())
	gittest.Must(l.t, err)
	var moves []git.Update
	for _, id := range ids {
		m, err := ledger.Open(l.t.Context(), l.Store.Repo, objects, mission)
		gittest.Must(l.t, err)
		m.ID = id
		m.Mission = &record.Mission{V: record.Version, ID: id, Created: l.now, ForkedFrom: &record.TurnID{Mission: mission, Turn: 1}}
		tip, err := m.Append(ledger.Event{Subject: "fork of a1b2c3d4/1", Files: change(id), Author: config.Author(l.now), Committer: config.Committer(l.now)})
		gittest.Must(l.t, err)
		moves = append(moves, git.Update{Ref: id.Ref(), New: tip})
	}
	gittest.Must(l.t, objects.Flush())
	gittest.Must(l.t, l.Store.Repo.UpdateRefs(l.t.Context(), "test", moves))
}

// TestEach: what is read of many missions together is what is read of each alone, also where some of it is damaged.
func TestEach(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.turn(1, "s", "done", "do it", "done")
	l.gather(time.Minute, Request{Session: "s", Summary: "one"})
	l.gather(2*time.Minute, Request{Session: "s", Summary: "two"})
	line := func(id record.ID, number int) []byte {
		return fmt.Appendf(nil, `{"v":1,"kind":"handoff","mission":%q,"handoff":%d,"at":"2026-11-20T23:59:01Z","exit_type":"clean"}`, id, number)
	}
	changes := map[record.ID]map[string][]byte{
		"00000001": nil,
		"00000002": {"handoffs/000003/handoff.json": line("00000002", 3)},
		"00000003": {"handoffs/000003/handoff.json": line("00000003", 4)},
		"00000004": {"handoffs/000003/handoff.json": []byte("x")},
		"00000005": {"handoffs/000003/other": []byte("x")},
		"00000006": {"handoffs/000003/handoff.json/x": []byte("x")},
		"00000007": {"handoffs/x": []byte("x"), "handoffs/000003": []byte("x")},
		"00000008": {"handoffs/000001/handoff.json": nil},
		"00000009": {"handoffs/000007/handoff.json": line("00000002", 3)}, // as another one has it, and that as 3
		"0000000a": {"handoffs/000001/handoff.json": nil, "handoffs/000002/handoff.json": nil},
	}
	l.alike(slices.Sorted(maps.Keys(changes)), func(id record.ID) map[string][]byte { return changes[id] })
	l.Git("update-ref", record.ID("0000000b").Ref(), "HEAD")  // no ledger
	l.Git("update-ref", record.ID("0000000c").Ref(), "HEAD:") // no commit
	top := l.Git("ls-tree", mission.Ref()) + "\n"
	lacking := strings.ReplaceAll(top, l.Git("rev-parse", mission.Ref()+":handoffs"), gittest.Hash("1"))
	l.Git("update-ref", record.ID("0000000d").Ref(), l.Git("commit-tree", "-m", "x", l.Pipe(lacking, "mktree", "--missing")))
	tips, err := ledger.List(t.Context(), l.Store.Repo)
	gittest.Must(t, err)
	what := func(list []*Handoff, err error) (text string) {
		for _, h := range list {
			text += fmt.Sprintf("%s %s; ", h.ID(), h.Summary)
		}
		return fmt.Sprintf("%s%v", text, err)
	}
	var ids []record.ID
	gittest.Must(t, Each(t.Context(), l.Store.Repo, tips, func(id record.ID, list []*Handoff, err error) error {
		ids = append(ids, id)
		if got, want := what(list, err), what(List(t.Context(), l.Store.Repo, id)); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
		return nil
	}))
	if len(ids) != len(tips) || len(ids) != 14 || !slices.IsSorted(ids) {
		t.Errorf("told of %v", ids)
	}
	enough := errors.New("enough")
	if err := Each(t.Context(), l.Store.Repo, tips, func(record.ID, []*Handoff, error) error { return enough }); err != enough {
		t.Errorf("Each = %v", err)
	}
}
