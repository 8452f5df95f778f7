package blame

import (
	"slices"
	"testing"

	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

// TestStateBeforeAsked: the state before the commit that is asked about is listed with its parents, also where no turn of the
// list knows it. Git would find others of the graph behind it by itself, and with those told of parents a circle: blame
// never ended.
func TestStateBeforeAsked(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	var commits []object.Hash
	for _, name := range []string{"base", "by the agent", "the user's"} {
		commits = append(commits, object.NewHash(r.Commit(name)))
	}
	before := object.NewHash(r.Git("commit-tree", "-m", "turn 1", "-p", commits[1].String(), "HEAD^{tree}"))
	asked := object.NewHash(r.Git("commit-tree", "-m", "turn 2", "-p", commits[2].String(), "HEAD^{tree}"))
	w := workspaceOf(t, r)
	h := &History{w: w, objects: w.Repo.Objects(t.Context()), states: map[object.Hash]*savedState{
		asked: {made: true, mission: "a1b2c3d4", chain: before}, before: {made: true, mission: "a1b2c3d4"},
	}}
	defer h.Close()
	list, _, err := h.revisions(t.Context(), h.objects, asked, []*pastTurn{{base: commits[0], code: commits[1]}})
	gittest.Must(t, err)
	at := slices.IndexFunc(list, func(r real) bool { return r.hash == before })
	if at < 0 || list[at].edge || !slices.Equal(list[at].parents, commits[1:2]) {
		t.Errorf("the state before is not in it, or without parents: %v", list)
	}
}
