package turns_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/missionstore"
	"gitagent/internal/record"
	"gitagent/test/gittest"
	"gitagent/test/lab"
	"gitagent/turns"
)

// TestSaved: what a restore saved has a name, which is found from any mission, and forks.
func TestSaved(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	c := l.Client()
	l.Turn(c, "one", l.Writes("file", "one"))
	l.Turn(c, "two", l.Writes("file", "two"))
	l.Write("file", "by hand")
	missions, err := turns.Missions(t.Context(), l.GitRepo())
	gittest.Must(t, err)
	id := missions[0].ID
	done, err := l.Restore(l.List(id)[0], false)
	gittest.Must(t, err)
	saved, err := turns.Saved(t.Context(), l.GitRepo(), id)
	if err != nil || len(saved) != 1 {
		t.Fatalf("%v, %v", saved, err)
	}
	for _, name := range []string{saved[0].String(), done.Present.String(), done.Present.String()[:8]} {
		s, err := turns.Find(t.Context(), l.Workspace(l.Dir), "", name)
		if err != nil || !s.Saved || s.Commit != done.Present || s.Turn.Turn != 2 || s.In != id {
			t.Errorf("%s is %+v, %v", name, s, err)
		}
	}
	if why := saved[0].Why; why != "before restoring turn 1" {
		t.Errorf("it was saved %q", why)
	}
	if _, err := saved[0].Usable(t.Context(), l.Workspace(l.Dir)); err != nil {
		t.Error(err)
	}
}

// TestSavedLater: a commit can have a time that JSON has none for.
func TestSavedLater(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	c := l.Client()
	l.Turn(c, "one", l.Writes("file", "one"))
	ref := lab.Own(c).Ref()
	raw := fmt.Sprintf("tree %s\nparent %s\nparent %s\nauthor Dev <dev@example.invalid> 1 +0000\ncommitter Dev <dev@example.invalid> 999999999999 +0000\n\nbefore restoring turn 1\n",
		l.TreeOf(ref), l.Git("rev-parse", ref), l.Git("rev-parse", "HEAD"))
	commit, err := l.Feed(raw, "hash-object", "-t", "commit", "-w", "--stdin")
	gittest.Must(t, err)
	l.Git("update-ref", ref, strings.TrimSpace(commit))
	saved, err := turns.Saved(t.Context(), l.GitRepo(), lab.Own(c))
	if err != nil || len(saved) != 1 {
		t.Fatalf("%v, %v", saved, err)
	}
	if _, err := json.Marshal(saved[0].At.UTC()); err != nil {
		t.Error(err)
	}
}

// TestRange: a range is what came after its first state, up to its second.
func TestRange(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	l.Begin(missionstore.Beginning{ID: "a1b2c3d4", At: time.Now()})
	c := l.Client()
	for i := range 4 {
		l.Turn(c, fmt.Sprint(i+1), l.Writes("file", fmt.Sprint(i)))
	}
	l.Git("checkout", "-q", "main")
	l.Begin(missionstore.Beginning{ID: "a1b3c3d4", At: time.Now()})
	l.Turn(l.Client(), "other", l.Writes("other", "x"))
	for _, tt := range []struct{ name, from, to string }{
		{"2..3", "a1b2c3d4/2", "a1b2c3d4/3"},
		{"2^..3", "a1b2c3d4/2^", "a1b2c3d4/3"},
		{"2..3^", "a1b2c3d4/2", "a1b2c3d4/3^"},
		{"3..2", "a1b2c3d4/3", "a1b2c3d4/2"},
		{"2..", "a1b2c3d4/2", "a1b2c3d4/4"},
		{"..2", "a1b2c3d4/1^", "a1b2c3d4/2"},
		{"..", "a1b2c3d4/1^", "a1b2c3d4/4"},
		{"A1B3/1^..", "a1b3c3d4/1^", "a1b3c3d4/1"},
		{"a1b3/1..a1b2/2", "a1b3c3d4/1", "a1b2c3d4/2"},
		{"a1b2/1..2", "a1b2c3d4/1", "a1b2c3d4/2"},
		{"1..9", "", ""},
		{"1...2", "", ""},
		{"a1b/1..", "", ""},
	} {
		from, to, ok, err := turns.Range(t.Context(), l.Workspace(l.Dir), "a1b2c3d4", tt.name)
		switch {
		case !ok:
			t.Errorf("%s is no range", tt.name)
		case tt.from == "" && err == nil:
			t.Errorf("%s is %s to %s, want an error", tt.name, from, to)
		case tt.from != "" && (err != nil || from.String() != tt.from || to.String() != tt.to):
			t.Errorf("%s is %v to %v, %v; want %s to %s", tt.name, from, to, err, tt.from, tt.to)
		}
	}
	for _, name := range []string{"2", "a1b2/2", "HEAD", ""} {
		if _, _, ok, err := turns.Range(t.Context(), l.Workspace(l.Dir), "a1b2c3d4", name); ok || err != nil {
			t.Errorf("%s is a range, or an error: %v", name, err)
		}
	}
	_, err := turns.Find(t.Context(), l.Workspace(l.Dir), "", "agent/mission/a1b2c3d4~1")
	if err != nil {
		t.Error(err)
	}
	if _, err = turns.Find(t.Context(), l.Workspace(l.Dir), "", "a1b/1"); !errors.Is(err, git.ErrNotFound) {
		t.Errorf("three digits: %v", err)
	}
	l.Git("update-ref", "refs/agent/missions/a1b2ffff", "refs/agent/missions/a1b3c3d4")
	if _, err = turns.Find(t.Context(), l.Workspace(l.Dir), "", "a1b2/1"); err == nil || err.Error() != "mission a1b2: several begin like this: a1b2c3d4, a1b2ffff" {
		t.Errorf("several missions: %v", err)
	}
	if s, err := turns.Find(t.Context(), l.Workspace(l.Dir), "", "a1b2c/1"); err != nil || s.In != "a1b2c3d4" {
		t.Errorf("five digits: %v, %v", s, err)
	}
}

// TestKeptByStranger: a stranger's ledger that keeps a commit of ours does not stand before ours.
func TestKeptByStranger(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	l.Turn(c, "one", l.Writes("file", "one"))
	l.Turn(c, "two", l.Writes("file", "two"))
	l.Write("file", "by hand")
	id := lab.Own(c)
	done, err := l.Restore(l.List(id)[0], false)
	gittest.Must(t, err)
	const theirs = record.ID("00000000") // it sorts before ours
	turn := l.List(id)[0]
	turn.Mission, turn.Turn, turn.Code, turn.Base = theirs, 1, done.Present, object.Hash{}
	line, err := turn.Encode()
	gittest.Must(t, err)
	root := l.Git("rev-list", "--max-parents=0", "--first-parent", id.Ref())
	l.Git("update-ref", theirs.Ref(), root)
	l.Plant(theirs, map[string]string{"mission.json": `{"v":1,"id":"00000000","created":"2026-01-02T03:04:05Z"}`, "turns/0000/000001.json": string(line)})
	l.Git("update-ref", theirs.Ref(), l.Git("commit-tree", "-m", "turn 1", "-p", theirs.Ref(), "-p", done.Present.String(), theirs.Ref()+"^{tree}"))
	for _, current := range []record.ID{"", id, theirs} {
		s, err := turns.Find(t.Context(), l.Workspace(l.Dir), current, done.Present.String())
		if err != nil || s.In != id || !s.Saved {
			t.Errorf("in mission %q: %+v, %v", current, s, err)
		}
	}
	l.Git("update-ref", "-d", id.Ref())
	if s, err := turns.Find(t.Context(), l.Workspace(l.Dir), "", done.Present.String()); err != nil || s.In != theirs {
		t.Errorf("where nobody else keeps it: %+v, %v", s, err)
	}
}
