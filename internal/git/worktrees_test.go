package git

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
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

// TestUnseen: what is not here is gone if it must have been here.
func TestUnseen(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Commit("first")
	repo := find(t, r)
	above := filepath.Dir(r.Dir)
	gittest.Must(t, os.Mkdir(filepath.Join(above, "empty"), 0o777))
	for _, tt := range []struct {
		name, path string
		want       bool
	}{
		{"it is here", r.Dir, false},
		{"beside the repository", filepath.Join(above, "gone"), false},
		{"with the directory above", filepath.Join(above, "gone", "dir", "work"), false},
		{"in what may be a disk that is not mounted", filepath.Join(above, "empty", "work"), true},
		{"the same, deeper", filepath.Join(above, "empty", "dir", "work"), true},
		{"in another file system", "/proc/gone", true},
	} {
		if runtime.GOOS != "linux" && strings.HasPrefix(tt.path, "/proc") {
			continue
		}
		if got := repo.Unseen(t.Context(), tt.path); got != tt.want {
			t.Errorf("%s: Unseen = %t", tt.name, got)
		}
	}
}

// TestUnseenWithEntry: what git has an entry of is gone only if that has
// nothing to lose, and the directory that it was in is there.
func TestUnseenWithEntry(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		arrange func(t *testing.T, there *gittest.Repo)
		want    bool
	}{
		{"it is removed", func(_ *testing.T, there *gittest.Repo) { there.Write("new", "not staged\n") }, false},
		{"something is staged", func(_ *testing.T, there *gittest.Repo) {
			there.Write("new", "staged\n")
			there.Git("add", "new")
		}, true},
		{"a merge is under way", func(_ *testing.T, there *gittest.Repo) {
			there.In(there.Git("rev-parse", "--absolute-git-dir")).Write("MERGE_HEAD", there.Git("rev-parse", "HEAD"))
		}, true},
		{"nothing was checked out", func(t *testing.T, there *gittest.Repo) {
			gittest.Must(t, os.Remove(filepath.Join(there.Git("rev-parse", "--absolute-git-dir"), "index")))
		}, false},
		{"the directory above has moved", func(t *testing.T, there *gittest.Repo) {
			above := filepath.Dir(there.Dir)
			gittest.Must(t, os.Rename(above, above+"-moved"))
			t.Cleanup(func() { _ = os.RemoveAll(above + "-moved") })
		}, true},
	} {
		r := gittest.New(t)
		r.Write("file", "1\n")
		r.Commit("first")
		there := linked(t, r)
		gittest.Must(t, os.WriteFile(filepath.Join(filepath.Dir(there.Dir), "beside"), nil, 0o666))
		tt.arrange(t, there)
		gittest.Must(t, os.RemoveAll(there.Dir))
		if got := find(t, r).Unseen(t.Context(), there.Dir); got != tt.want {
			t.Errorf("%s: Unseen = %t", tt.name, got)
		}
	}
}

// TestBehind: what git has under way is read where the worktree is not.
func TestBehind(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Commit("first")
	there := linked(t, r)
	there.Git("switch", "-q", "-c", "topic")
	admin := there.Git("rev-parse", "--absolute-git-dir")
	repo := find(t, r)
	gittest.Must(t, os.Rename(there.Dir, there.Dir+"-unseen"))
	behind := repo.Behind(there.Dir)
	if behind == nil || behind.GitDir != admin {
		t.Fatalf("Behind = %+v", behind)
	}
	if head, err := behind.HeadRef(t.Context()); head != "refs/heads/topic" || err != nil {
		t.Errorf("HeadRef = %q, %v", head, err)
	}
	gittest.Must(t, os.WriteFile(filepath.Join(admin, "MERGE_HEAD"), nil, 0o666))
	if op, err := behind.Operation(t.Context()); op != "merge" || err != nil {
		t.Errorf("Operation = %q, %v", op, err)
	}
	if repo.Behind(r.Dir) != nil {
		t.Error("the main worktree is a linked one")
	}
}
