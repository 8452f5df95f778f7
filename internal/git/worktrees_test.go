package git

import (
	"path/filepath"
	"testing"

	"gitagent/test/gittest"
)

// TestMainWorktree: a relative URL means the same everywhere in a repository.
func TestMainWorktree(t *testing.T) {
	t.Parallel()
	plain := gittest.New(t)
	plain.Commit("first")
	bare := gittest.New(t, "--bare")
	bare.Git("fetch", "-q", plain.Dir, "HEAD:refs/heads/main")
	apart := gittest.New(t, "--separate-git-dir="+filepath.Join(gittest.TempDir(t), "apart"))
	apart.Commit("first")
	super := gittest.New(t)
	super.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", plain.Dir, "module")
	module := super.In(filepath.Join(super.Dir, "module"))
	for _, tt := range []struct {
		name  string
		repo  *gittest.Repo
		wants string
	}{
		{"a worktree", plain, plain.Dir},
		{"its linked worktree", linked(t, plain), plain.Dir},
		{"of a bare repository", linked(t, bare), bare.Dir},
		{"a git directory apart", apart, apart.Dir},
		{"a submodule", module, module.Dir},
		{"a linked worktree of a submodule", linked(t, module), module.Dir},
	} {
		repo, err := Find(tt.repo.Dir)
		gittest.Must(t, err)
		if got := repo.Main(t.Context()); got != tt.wants {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.wants)
		}
	}
	lost := linked(t, apart)
	repo, err := Find(lost.Dir)
	gittest.Must(t, err)
	if got := repo.Main(t.Context()); got != lost.Dir {
		t.Errorf("whose main worktree git does not know: %s, want %s", got, lost.Dir)
	}
}

func TestWorktreeOf(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Commit("first")
	r.Git("branch", "nowhere")
	there := linked(t, r)
	there.Git("switch", "-q", "-c", "topic")
	linked(t, r).Git("switch", "-q", "--detach")
	repo, err := Find(r.Dir)
	gittest.Must(t, err)
	for branch, want := range map[string]string{
		"refs/heads/main": r.Dir, "refs/heads/topic": there.Dir, "topic": "", "refs/heads/nowhere": "", "refs/heads/gone": "", "": "",
	} {
		if got, err := repo.WorktreeOf(t.Context(), branch); got != want || err != nil {
			t.Errorf("%q is checked out in %q, %v; want %q", branch, got, err, want)
		}
	}
}
