package turns_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"gitagent/internal/places"
	"gitagent/internal/record"
	"gitagent/internal/session"
	"gitagent/test/gittest"
	"gitagent/test/lab"
	"gitagent/turns"
)

// TestHandsOfVisits: of what a stranger has recorded no home is looked for, and a stranger's home is nobody's, nor is what
// a stranger says to be a visit.
func TestHandsOfVisits(t *testing.T) {
	t.Parallel()
	for name, strange := range map[string]struct{ home, visit bool }{
		"ours":                 {},
		"a stranger's visit":   {visit: true},
		"a stranger's home":    {home: true},
		"a stranger's records": {true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b := lab.New(t), lab.New(t)
			c, there := a.Three()
			_, here := b.Three()
			home, visit := *there[1], *here[1]
			home.Reply = "another" // else nothing is written
			visit.Session, visit.PromptID, visit.Prompt = home.Session, home.PromptID, home.Prompt
			visit.Transcript, visit.Home = nil, &record.TurnID{Mission: home.Mission, Turn: home.Turn}
			atHome, visited := a.Rewrite(home, strange.home), b.Rewrite(visit, strange.visit)
			state := gittest.TempDir(t)
			known := places.Of(func(name string) string { return map[string]string{"XDG_STATE_HOME": state}[name] })
			gittest.Must(t, known.Note(c.Session, a.GitRepo().CommonDir))
			gittest.Must(t, known.NoteRepository(b.GitRepo().CommonDir))
			gittest.Must(t, b.Workspace(b.Dir).Store.Update(t.Context(), c.Session, func(st *session.Known) error {
				st.Mission, st.Away = visit.Mission, true
				return nil
			}))
			h, err := turns.HomeOf(t.Context(), known, &turns.Writers{Workspace: b.Workspace(b.Dir)}, visited)
			switch {
			case strange.home || strange.visit:
				if err == nil || strings.Contains(err.Error(), a.Dir) && strange.visit {
					t.Errorf("home is %v, %v", h, err)
				}
			case err != nil || h.Turn.Code != home.Code:
				t.Errorf("home is %v, %v", h, err)
			}
			visits, err := turns.VisitsOf(t.Context(), known, &turns.Writers{Workspace: a.Workspace(a.Dir)}, atHome)
			if want := !strange.home && !strange.visit; err != nil || (len(visits) == 1) != want {
				t.Errorf("visits are %v, %v", visits, err)
			}
		})
	}
}

// TestHomeOf looks for the conversation of a turn that another repository has.
func TestHomeOf(t *testing.T) {
	t.Parallel()
	a := lab.New(t)
	c, list := a.Three()
	state := gittest.TempDir(t)
	known := places.Of(func(name string) string { return map[string]string{"XDG_STATE_HOME": state}[name] })
	common := a.GitRepo().CommonDir
	roll := &turns.Writers{Workspace: a.Workspace(a.Dir)}
	gittest.Must(t, known.Note(c.Session, common))
	gittest.Must(t, known.Note("gone", common+"/gone"))
	visit := func(change func(*turns.Turn)) *turns.Turn {
		visited := *list[1]
		home := record.TurnID{Mission: list[1].Mission, Turn: 2}
		visited.Transcript, visited.Home = nil, &home
		change(&visited)
		return &visited
	}
	for name, tt := range map[string]struct {
		of  *turns.Turn
		why string // it is out of reach; "" if it is not
	}{
		"as it was recorded":             {of: visit(func(*turns.Turn) {})},
		"of an unknown turn at home":     {of: visit(func(t *turns.Turn) { t.Home.Turn = 0 })},
		"without a home":                 {visit(func(t *turns.Turn) { t.Home = nil }), "not known on this machine"},
		"of a turn that home lacks":      {visit(func(t *turns.Turn) { t.Home.Turn = 9 }), "has no such turn"},
		"of a mission that home lacks":   {visit(func(t *turns.Turn) { t.Home.Mission = "0bad0bad" }), "has no such turn"},
		"of another turn of the session": {visit(func(t *turns.Turn) { t.Home.Turn = 1 }), "has no such turn"},
		"of a session nobody knows":      {visit(func(t *turns.Turn) { t.Session = "nobody" }), "not known on this machine"},
		"of a session that is a path":    {visit(func(t *turns.Turn) { t.Session = "../homes/" + c.Session }), "not known on this machine"},
		"of another prompt":              {visit(func(t *turns.Turn) { t.PromptID = "other" }), "has no such turn"},
		"where the repository is gone":   {visit(func(t *turns.Turn) { t.Session = "gone" }), "/gone, which is gone"},
	} {
		h, err := turns.HomeOf(t.Context(), known, roll, tt.of)
		switch {
		case tt.why != "" && (err == nil || !strings.Contains(err.Error(), tt.why)):
			t.Errorf("%s: %v, %v", name, h, err)
		case tt.why == "" && (err != nil || h.Turn.Turn != 2 || h.Repo.CommonDir != common):
			t.Errorf("%s: %v, %v", name, h, err)
		}
	}
	gittest.Must(t, os.RemoveAll(state))
	as := visit(func(*turns.Turn) {})
	if _, err := turns.HomeOf(t.Context(), known, roll, as); !errors.Is(err, turns.ErrAway) {
		t.Errorf("without notes: %v", err)
	}
	gittest.Must(t, known.NoteRepository(common)) // as after it was moved
	if h, err := turns.HomeOf(t.Context(), known, roll, as); err != nil || h.Turn.Turn != 2 {
		t.Errorf("in a repository that was noted: %v, %v", h, err)
	}
}
