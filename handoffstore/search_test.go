package handoffstore

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/search"
	"gitagent/test/gittest"
)

// found are the handoffs in which all words are, each with the lines.
func (l *lab) found(since time.Time, words ...string) []string {
	l.t.Helper()
	query, err := search.Words(words)
	gittest.Must(l.t, err)
	tips, err := ledger.List(l.t.Context(), l.Store.Repo)
	gittest.Must(l.t, err)
	var found []string
	err = Search(l.t.Context(), l.Workspace, tips, query, since, func(at time.Time, h *Hit) error {
		if h == nil {
			return nil
		}
		if !at.Equal(h.At) {
			l.t.Errorf("handoff %s/%d is of %s, not %s", h.Mission, h.Number, h.At, at)
		}
		var lines []string
		for _, line := range h.Lines {
			lines = append(lines, line.Place+": "+line.Text)
		}
		found = append(found, fmt.Sprintf("%s/%d %s", h.In, h.Number, strings.Join(lines, " | ")))
		return nil
	})
	gittest.Must(l.t, err)
	return found
}

// TestSearch: what was written is found once, in the newest handoff that has it, as its own mission's;
// what only quotes turns is not.
func TestSearch(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.turn(1, "s", "done", "do the parser", "the parser is half done")
	l.gather(time.Minute, Request{Session: "s"}) // nobody wrote anything
	l.gather(2*time.Minute, Request{Session: "s", Document: document(t, "# NEXT\n\nTest the Parser.\n"), Questions: []string{"What about UTF-16?", "And the parser?"}})
	l.turn(2, "s", "done", "go on", "")
	l.gather(3*time.Minute, Request{Session: "s"}) // what was written is taken over
	l.gather(4*time.Minute, Request{Session: "u", Summary: "the writer follows the parser"})
	for _, tt := range []struct {
		words string
		want  []string
	}{
		{"parser", []string{
			"a1b2c3d4/4 summary: the writer follows the parser",
			"a1b2c3d4/3 document: Test the Parser. | question: And the parser?",
		}},
		{"Parser", []string{"a1b2c3d4/3 document: Test the Parser."}},
		{"next utf-16", []string{"a1b2c3d4/3 document: # NEXT | question: What about UTF-16?"}},
		{"next writer", nil},
		{"half", nil},
	} {
		if got := l.found(time.Time{}, strings.Fields(tt.words)...); !slices.Equal(got, tt.want) {
			t.Errorf("%q: %q, want %q", tt.words, got, tt.want)
		}
	}
	if got := l.found(l.now.Add(4*time.Minute), "parser"); len(got) != 1 {
		t.Errorf("since the last: %q", got)
	}

	want := l.found(time.Time{}, "parser")
	l.inherit("f0f0f0f0")
	if got := l.found(time.Time{}, "parser"); !slices.Equal(got, want) {
		t.Errorf("with a fork: %q, want %q", got, want)
	}
	gittest.Must(t, l.Workspace.GiveUp(mission))
	l.Git("update-ref", "-d", mission.Ref())
	for i := range want {
		want[i] = strings.Replace(want[i], string(mission), "f0f0f0f0", 1)
	}
	if got := l.found(time.Time{}, "parser"); !slices.Equal(got, want) {
		t.Errorf("in the fork alone: %q, want %q", got, want)
	}

	query, err := search.Words([]string{"parser"})
	gittest.Must(t, err)
	tips, err := ledger.List(t.Context(), l.Store.Repo)
	gittest.Must(t, err)
	stop := errors.New("stop")
	if err := Search(t.Context(), l.Workspace, tips, query, time.Time{}, func(time.Time, *Hit) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("Search = %v, want the callback's error", err)
	}
}

// TestSearchStranger: a stranger who writes the same, or has the same, and dates it later, hides nothing of
// ours. What is in a fork of ours is found once.
func TestSearchStranger(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.turn(1, "s", "done", "do the parser", "")
	l.gather(time.Minute, Request{Session: "s", Document: document(t, "# NEXT\n\nTest the parser.\n")})
	want := l.found(time.Time{}, "parser")
	if len(want) != 1 {
		t.Fatalf("ours are %q", want)
	}
	data := l.Git("cat-file", "blob", mission.Ref()+":handoffs/000001/handoff.json")
	for id, text := range map[record.ID]string{"f0f0f0f0": data, "f1f1f1f1": strings.Replace(data, `"at":"2026`, `"at":"2096`, 1)} {
		l.inherit(id)
		l.replant(id, "handoffs/000001/handoff.json", strings.ReplaceAll(text, string(mission), string(id)))
	}
	l.inherit("f2f2f2f2")
	got := l.found(time.Time{}, "parser")
	ours := slices.DeleteFunc(slices.Clone(got), func(line string) bool { return !strings.HasPrefix(line, string(mission)) })
	if !slices.Equal(ours, want) {
		t.Errorf("of ours there are %q of %q, want %q", ours, got, want)
	}
}

// replant puts a file into a ledger, as a stranger can.
func (l *lab) replant(id record.ID, path, content string) {
	l.t.Helper()
	objects := l.Store.Repo.Objects(l.t.Context())
	defer objects.Close()
	m, err := ledger.Open(l.t.Context(), l.Store.Repo, objects, id)
	gittest.Must(l.t, err)
	who := object.Signature{Name: "a", Email: "b", When: l.now.AddDate(70, 0, 0)}
	tip, err := m.Append(ledger.Event{Subject: "planted", Files: map[string][]byte{path: []byte(content)}, Author: who, Committer: who})
	gittest.Must(l.t, err)
	gittest.Must(l.t, objects.Flush())
	gittest.Must(l.t, l.Store.Repo.UpdateRefs(l.t.Context(), "test", []git.Update{{Ref: id.Ref(), New: tip, Old: m.Tip}}))
}

// inherit makes a mission that has what the lab's has.
func (l *lab) inherit(id record.ID) {
	l.t.Helper()
	objects := l.Store.Repo.Objects(l.t.Context())
	defer objects.Close()
	m, err := ledger.Open(l.t.Context(), l.Store.Repo, objects, mission)
	gittest.Must(l.t, err)
	m.ID, m.Mission = id, &record.Mission{V: record.Version, ID: id, Created: l.now}
	who := object.Signature{Name: "a", Email: "b", When: l.now.Add(time.Hour)}
	tip, err := m.Append(ledger.Event{Subject: "fork", Author: who, Committer: who})
	gittest.Must(l.t, err)
	gittest.Must(l.t, objects.Flush())
	gittest.Must(l.t, l.Store.Repo.UpdateRefs(l.t.Context(), "test", []git.Update{{Ref: id.Ref(), New: tip}}))
}
