package blame

import (
	"slices"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/workspace"
	"gitagent/test/gittest"
)

func workspaceOf(t *testing.T, r *gittest.Repo) *workspace.Workspace {
	t.Helper()
	repo, err := git.Find(r.Dir)
	gittest.Must(t, err)
	return workspace.New(repo, config.Default())
}

// TestLook: which turns may have changed a file that has another name since a commit, and what they had there.
func TestLook(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	commit := func(files map[string]string) object.Hash {
		r.Git("read-tree", "--empty")
		for path, content := range files {
			hash := r.Pipe(content, "hash-object", "-w", "--stdin")
			r.Git("update-index", "--add", "--cacheinfo", "100644,"+hash+","+path)
		}
		return object.NewHash(r.Git("commit-tree", "-m", "a state", r.Git("write-tree")))
	}
	blob := func(content string) object.Hash { return made(1).Format().Object(plumbing.BlobObject, []byte(content)) }
	base, code := commit(map[string]string{"former": "one\n", "now": "here\n"}), commit(map[string]string{"now": "two\n"})
	committed := time.Unix(1000, 0)
	paths := func(list ...string) []string { return list }
	for _, tt := range []struct {
		name string
		turn pastTurn
		want bool
	}{
		{"it changed it", pastTurn{started: committed, base: base, code: code, paths: paths("other", "now")}, true},
		{"it changed it under its former name", pastTurn{started: committed, base: base, code: code, paths: paths("former")}, true},
		{"it changed more than is known", pastTurn{started: committed, base: base, code: code, paths: paths("other"), more: true}, true},
		{"it changed another", pastTurn{started: committed, base: base, code: code, paths: paths("other")}, false},
		{"it began in the second of the commit", pastTurn{started: committed.Add(time.Second), base: base, code: code, more: true}, true},
		{"it began after the commit", pastTurn{started: committed.Add(time.Second + 1), base: base, code: code, more: true}, false},
		{"it left no state", pastTurn{started: committed, base: base, more: true}, false},
		{"it is not known where it began", pastTurn{started: committed, code: code, more: true}, false},
		{"it changed nothing", pastTurn{started: committed, base: code, code: code, more: true}, false},
	} {
		other := &pastTurn{started: committed.Add(-time.Hour), base: base, code: code, more: true} // which is asked about as well
		a := &landing{
			Landing: Landing{Commit: code},
			h:       &History{w: workspaceOf(t, r), turns: []*pastTurn{other, &tt.turn}},
			commits: map[object.Hash]time.Time{code: committed},
		}
		changes := make([]gitdiff.Change, 2)
		changes[0].Path, changes[0].From = "now", "former"
		changes[1].Path, changes[1].From = "absent", "absent"
		files, err := a.look(t.Context(), changes)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		for i, f := range files {
			want, had := []*pastTurn{other}, [3]object.Hash{}
			if tt.want && (i == 0 || tt.turn.more) {
				want = []*pastTurn{&tt.turn, other}
			}
			if i == 0 {
				had = [3]object.Hash{blob("two\n"), blob("here\n"), blob("one\n")}
			}
			if !slices.Equal(f.turns, want) {
				t.Errorf("%s: %d turns may have changed %s, want %d", tt.name, len(f.turns), f.c.Path, len(want))
				continue
			}
			for n := range want {
				if got := [3]object.Hash{f.after[n], f.before[n], f.was[n]}; got != had {
					t.Errorf("%s: %s was %v, want %v", tt.name, f.c.Path, got, had)
				}
			}
		}
	}
}
