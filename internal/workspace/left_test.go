package workspace

import (
	"maps"
	"testing"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/record"
	"gitagent/test/gittest"
)

// TestTakenBackMeanwhile: a mission's ref was read where others had moved it, and another of our processes takes it
// back before this one looks again.
func TestTakenBackMeanwhile(t *testing.T) {
	t.Parallel()
	c := &crowd{Repo: gittest.New(t), t: t, tips: make(map[record.ID]object.Hash)}
	c.Do("file=1; commit first")
	const id = record.ID("0000000a")
	c.event(id, true, 1000)
	before := c.tips[id]
	c.event(id, true, 2000)
	w := c.open()
	gittest.Must(t, w.Trust.Leave(id, c.tips[id], w.Repo.Format()))
	held, _, err := c.open().Store.TryLockMission(id)
	gittest.Must(t, err)
	for _, tt := range []struct {
		name    string
		at      object.Hash // where the ref is by then
		another bool        // it has the mission's lock still
	}{
		{"it is at it", before, true},
		{"it is about to end", c.tips[id], true},
		{"it is done", c.tips[id], false},
	} {
		gittest.Must(t, w.Repo.Watched(nil).UpdateRefs(t.Context(), "test", []git.Update{{Ref: id.Ref(), New: tt.at, Anyway: true}}))
		if !tt.another {
			held.Release()
		}
		refs := map[string]object.Hash{id.Ref(): before}
		w.correct(t.Context(), id, refs)
		if want := (map[string]object.Hash{id.Ref(): c.tips[id]}); !maps.Equal(refs, want) {
			t.Errorf("%s: %v, want %v", tt.name, refs, want)
		}
	}
}
