package blame

import (
	"testing"
	"time"

	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

// TestSaved: since when commits are known to be states of turns.
func TestSaved(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	of := make(map[string]object.Hash)
	tree := r.Git("write-tree")
	for _, name := range []string{"oldest", "base", "start", "head", "code", "code of both", "asked"} {
		of[name] = object.NewHash(r.Git("commit-tree", "-m", name, tree))
	}
	w := workspaceOf(t, r)
	objects := w.Repo.Objects(t.Context())
	defer objects.Close()
	at := time.UnixMilli
	list := []*pastTurn{
		{base: of["oldest"], code: of["oldest"], started: at(500), at: at(600)}, // where the graph ends
		{base: of["base"], start: of["start"], head: of["head"], code: of["code"], started: at(1001), at: at(2002)},
		{base: of["code"], code: of["code of both"], head: of["code of both"], started: at(3003), at: at(4004)},
		{base: of["start"], code: of["code of both"], head: of["head"], started: at(1500), at: at(3500)},
	}
	h := &History{w: w, objects: objects}
	g, err := h.graph(t.Context(), h.objects, of["asked"], list)
	gittest.Must(t, err)
	for name, want := range map[string]int64{"base": 1001, "start": 1001, "head": 2002, "code": 2002, "code of both": 3500, "asked": 0} {
		i, ok := g.index[of[name]]
		if !ok {
			t.Errorf("%s is not in the graph", name)
		} else if got := g.nodes[i].saved; got != want {
			t.Errorf("%s is known since %d, want %d", name, got, want)
		}
	}
}
