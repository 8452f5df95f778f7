package fetcher

import (
	"maps"
	"testing"

	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/workspace"
	"gitagent/test/gittest"
)

// TestDropLanded: what killed fetches have left goes, with the locks of their gits; not what a running one has.
func TestDropLanded(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Commit("first")
	repo, err := git.Find(r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	w := workspace.New(repo, config.Default())
	for _, ref := range []string{"origin/ABC/missions/a1b2c3d4", "origin/ABD/notes/a1b2c3d4", "team%2Forigin/X/heads/a1b2c3d4", "busy/X/missions/a1b2c3d4"} {
		r.Git("update-ref", allLandings+ref, "HEAD")
	}
	r.Git("pack-refs", "--all")
	r.Git("update-ref", allLandings+"origin/ABE/missions/b1b2c3d4", "HEAD")
	r.Write(".git/objects/tmp_agent-archive-up%2Fstream,1/pack/pack-1.pack", "what another one has archived")
	want := map[string]int{"origin": 3, "team/origin": 1, "up/stream": 1}
	if !r.InTables() {
		r.Write(".git/"+allLandings+"origin/ABE/missions/b1b2c3d4.lock", "")
		r.Write(".git/"+allLandings+"broken/X/missions/a1b2c3d4", "no hash")
		want["broken"] = 1
	}
	held, err := w.Store.TryLock("fetch-busy")
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	for _, dry := range []bool{true, false} {
		if got, err := DropLanded(t.Context(), w, dry); err != nil || !maps.Equal(got, want) {
			t.Errorf("dry is %t: %v, %v; want %v", dry, got, err, want)
		}
	}
	if left := r.Git("for-each-ref", "--format=%(refname)", allLandings); left != allLandings+"busy/X/missions/a1b2c3d4" {
		t.Errorf("left are %q", left)
	}
	if left := repo.Glob("objects/tmp_*"); len(left) > 0 {
		t.Errorf("left are %q", left)
	}
	if got, err := DropLanded(t.Context(), w, false); err != nil || len(got) > 0 {
		t.Errorf("again: %v, %v", got, err)
	}
}
