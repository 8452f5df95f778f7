package missionstore_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"gitagent/internal/missionstore"
	"gitagent/internal/places"
	"gitagent/internal/record"
	"gitagent/test/gittest"
	"gitagent/test/lab"
	"gitagent/turns"
)

// TestForkAway forks a turn whose conversation is in another repository: it is
// rebuilt from there, and never recorded here.
func TestForkAway(t *testing.T) {
	t.Parallel()
	a, b := lab.New(t), lab.New(t)
	ca, there := a.Three()
	_, here := b.Three()
	state := gittest.TempDir(t)
	known := places.Of(func(name string) string { return map[string]string{"XDG_STATE_HOME": state}[name] })
	gittest.Must(t, known.Note(ca.Session, a.GitRepo().CommonDir))
	visit := *here[1]
	visit.Session, visit.PromptID, visit.Prompt = there[1].Session, there[1].PromptID, there[1].Prompt
	visit.Transcript, visit.Home = nil, &record.TurnID{Mission: there[1].Mission, Turn: 2}
	source := b.Rewrite(visit, false)
	for name, before := range map[string]bool{"after": false, "before": true} {
		f := b.ForkOf(source)
		f.ID, f.Before, f.Worktree = record.ID("f0f0f0f"+map[bool]string{false: "1", true: "2"}[before]), before, t.TempDir()+"/"+name
		var err error
		f.Home, err = turns.HomeOf(t.Context(), known, &turns.Writers{Workspace: b.Workspace(b.Dir)}, source)
		gittest.Must(t, err)
		b.Fork(f)
		if got := known.Home(f.Session); got != a.GitRepo().CommonDir {
			t.Errorf("%s: the fork's session is at home in %q", name, got)
		}
		st := b.Workspace(b.Dir).Store.Load(f.Session)
		home := a.Workspace(a.Dir).Store.Load(f.Session)
		if !st.Away || st.Mission != f.ID || st.Cursors[f.ID].Offset == 0 || st.Cursors[f.ID].Turn != 0 {
			t.Errorf("%s: the session is known as %+v", name, st)
		}
		last := 2
		if before {
			last = 1
		}
		if at := home.Cursors[there[1].Mission]; home.Away || home.Mission != there[1].Mission || home.Top != a.Dir || at.Offset == 0 || at.Turn != last {
			t.Errorf("%s: the session is known at home as %+v", name, home)
		}
		file, err := os.ReadFile(st.Transcript)
		gittest.Must(t, err)
		if has := strings.Contains(string(file), "second"); has == before || !strings.Contains(string(file), "first") || strings.Contains(string(file), "third") {
			t.Errorf("%s: the conversation is\n%s", name, file)
		}
	}
	f := b.ForkOf(source)
	f.Lost = turns.ErrAway
	done, err := missionstore.Fork(t.Context(), b.Workspace(b.Dir), f)
	if err != nil || !errors.Is(done.Why, turns.ErrAway) || done.File != "" {
		t.Errorf("out of reach: %+v, %v", done, err)
	}
}
