package snapshot

import (
	"context"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
	"gitagent/internal/gittest"
)

// policy is the default one of the configuration.
var policy = Policy{MaxFileSize: 10 << 20, MaxUntrackedFiles: 5000, MaxUntrackedSize: 100 << 20}

// take takes a snapshot of r as the hook does and flushes it.
func take(t testing.TB, r *gittest.Repo, publish bool) *Snapshot {
	t.Helper()
	ctx := context.Background()
	repo, err := git.Find(r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	objects := repo.Objects(ctx)
	defer objects.Close()
	s, err := Take(ctx, repo, objects, Options{
		Policy:  policy,
		Config:  func() (git.Config, error) { return repo.Config(ctx) },
		Publish: publish,
		Now:     time.Now(),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := objects.Flush(); err != nil {
		t.Fatal(err)
	}
	return s
}

// wantTree is the tree that git itself makes of the worktree, with an index of its own.
func wantTree(t testing.TB, r *gittest.Repo) plumbing.Hash {
	t.Helper()
	s := *r
	s.Env = append(append([]string{}, r.Env...), "GIT_INDEX_FILE="+gittest.TempDir(t)+"/index")
	if _, err := r.Try("rev-parse", "--verify", "--quiet", "HEAD"); err == nil {
		s.Git("read-tree", "HEAD")
	}
	s.Git("add", "-A")
	return plumbing.NewHash(s.Git("write-tree"))
}

func TestTakeEqualsGit(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Write("a", "1\n")
	r.Write("d/b", "2\n")
	r.Write("d/e/c", "3\n")
	if got, want := take(t, r, false).Tree, wantTree(t, r); got != want {
		t.Errorf("unborn: tree %s, want %s", got, want)
	}
	r.Commit("one")
	r.Write("a", "changed\n")
	r.Write("new/file", "n\n")
	r.Git("mv", "d/b", "d/renamed")
	r.Write("staged", "s\n")
	r.Git("add", "staged")
	r.Write("staged", "s and more\n")
	if got, want := take(t, r, false).Tree, wantTree(t, r); got != want {
		t.Errorf("dirty: tree %s, want %s", got, want)
	}
	if got, want := take(t, r, true).Tree, wantTree(t, r); got != want {
		t.Errorf("through git: tree %s, want %s", got, want)
	}
}
