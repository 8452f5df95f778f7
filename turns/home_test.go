package turns_test

import (
	"errors"
	"os"
	"testing"

	"gitagent/internal/places"
	"gitagent/internal/record"
	"gitagent/test/gittest"
	"gitagent/test/lab"
	"gitagent/turns"
)

// TestHomeOf looks for the conversation of a turn that another repository has.
func TestHomeOf(t *testing.T) {
	t.Parallel()
	a := lab.New(t)
	c, list := a.Three()
	state := gittest.TempDir(t)
	known := places.Of(func(name string) string { return map[string]string{"XDG_STATE_HOME": state}[name] })
	common := a.GitRepo().CommonDir
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
		of   *turns.Turn
		away bool // out of reach, and nothing is known of it
	}{
		"as it was recorded":              {of: visit(func(*turns.Turn) {})},
		"without a home":                  {of: visit(func(t *turns.Turn) { t.Home = nil }), away: true},
		"of an unknown turn at home":      {of: visit(func(t *turns.Turn) { t.Home.Turn = 0 }), away: true},
		"of a turn that home lacks":       {of: visit(func(t *turns.Turn) { t.Home.Turn = 9 }), away: true},
		"of a mission that home lacks":    {of: visit(func(t *turns.Turn) { t.Home.Mission = "0bad0bad" }), away: true},
		"of another turn of the session":  {of: visit(func(t *turns.Turn) { t.Home.Turn = 1 }), away: true},
		"of a session nobody knows":       {of: visit(func(t *turns.Turn) { t.Session = "nobody" }), away: true},
		"of a session that is a path":     {of: visit(func(t *turns.Turn) { t.Session = "../homes/" + c.Session }), away: true},
		"of another prompt":               {of: visit(func(t *turns.Turn) { t.PromptID = "other" }), away: true},
		"where the repository is no more": {of: visit(func(t *turns.Turn) { t.Session = "gone" }), away: true},
	} {
		h, err := turns.HomeOf(t.Context(), known, tt.of)
		switch {
		case tt.away && !errors.Is(err, turns.ErrAway):
			t.Errorf("%s: %v, %v", name, h, err)
		case !tt.away && (err != nil || h.Turn.Turn != 2 || h.Repo.CommonDir != common):
			t.Errorf("%s: %v, %v", name, h, err)
		}
	}
	gittest.Must(t, os.RemoveAll(state))
	if _, err := turns.HomeOf(t.Context(), known, visit(func(*turns.Turn) {})); !errors.Is(err, turns.ErrAway) {
		t.Errorf("without notes: %v", err)
	}
}
