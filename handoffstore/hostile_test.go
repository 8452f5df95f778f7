package handoffstore

import (
	"errors"
	"strings"
	"testing"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/test/gittest"
)

// plant puts a file into the ledger, as anybody can who writes to its ref.
func (l *lab) plant(path, content string) {
	l.t.Helper()
	objects := l.Store.Repo.Objects(l.t.Context())
	defer objects.Close()
	m, err := ledger.Open(l.t.Context(), l.Store.Repo, objects, mission)
	gittest.Must(l.t, err)
	config, err := l.Store.Repo.Config(l.t.Context())
	gittest.Must(l.t, err)
	old := m.Tip
	tip, err := m.Append(ledger.Event{
		Subject: "planted", Files: map[string][]byte{path: []byte(content)}, Author: config.Author(l.now), Committer: config.Committer(l.now),
	})
	gittest.Must(l.t, err)
	gittest.Must(l.t, objects.Flush())
	gittest.Must(l.t, l.Trust.Own(mission, tip, old))
	gittest.Must(l.t, l.Store.Repo.UpdateRefs(l.t.Context(), "test", []git.Update{{Ref: mission.Ref(), New: tip, Old: old}}))
}

// TestBroken: a record that can't be read, or is of a newer version, is an error where it is asked
// for. It keeps nothing else from being read, and nobody from handing off.
func TestBroken(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		record string
		err    error // that it wraps; nil for any
	}{
		"newer":       {`{"v":2,"kind":"handoff","mission":"a1b2c3d4","handoff":2,"exit_type":"clean"}`, record.ErrVersion},
		"torn":        {`{"v":1,"kind":"hand`, nil},
		"another":     {`{"v":1,"kind":"handoff","mission":"a1b2c3d4","handoff":7,"at":"2026-11-20T23:59:01Z","exit_type":"clean"}`, nil},
		"binary":      {"\x00\xff", nil},
		"of no shape": {strings.Repeat("[", 100_000), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.turn(1, "s", "done", "do it", "done")
			l.gather(0, Request{Session: "s", Summary: "well"})
			l.plant("handoffs/000002/handoff.json", tt.record)
			if _, err := Find(t.Context(), l.Store.Repo, mission, "2"); err == nil || errors.Is(err, git.ErrNotFound) || tt.err != nil && !errors.Is(err, tt.err) {
				t.Errorf("Find: %v", err)
			}
			list, err := List(t.Context(), l.Store.Repo, mission)
			if err == nil || len(list) != 1 || list[0].Summary != "well" {
				t.Errorf("List: %+v, %v", list, err)
			}
			if _, err := l.Next(t.Context(), Start{At: l.now, Source: "startup", Session: "x", Asked: string(mission)}, nil); err == nil {
				t.Error("Next says nothing of it")
			}
			l.Write("file", "2\n")
			if g := l.gather(time.Hour, Request{Session: "s", Exit: record.Crash}); g.Number != 3 || !g.New || g.Stash.IsZero() {
				t.Errorf("handed off as %+v", g.Handoff)
			}
			if f := l.find(""); f.Number != 3 {
				t.Errorf("the last one is %d", f.Number)
			}
		})
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.gather(0, Request{Session: "s", Summary: "one"})
	l.gather(0, Request{Session: "s", Summary: "two"})
	for name, want := range map[string]int{
		"": 2, "latest": 2, "1": 1, "2": 2, "a1b2c3d4": 2, "a1b2c3d4/latest": 2, "a1b2c3d4/1": 1,
		"3": 0, "0": 0, "-1": 0, "a1b2c3d4/0": 0, "a1b2c3d4/x": 0, "0badcafe": 0, "0badcafe/1": 0, "../x": 0, "x": 0, "00000001": 0,
	} {
		f, err := Find(t.Context(), l.Store.Repo, mission, name)
		switch {
		case want == 0 && !errors.Is(err, git.ErrNotFound):
			t.Errorf("Find(%q) = %v, want an error wrapping ErrNotFound", name, err)
		case want > 0 && (err != nil || f.Number != want):
			t.Errorf("Find(%q) = %+v, %v; want %d", name, f, err, want)
		}
		if err == nil {
			f.Close()
		}
	}
	if _, err := Find(t.Context(), l.Store.Repo, "", "1"); !errors.Is(err, git.ErrNotFound) {
		t.Errorf("without a mission: %v", err)
	}
}
