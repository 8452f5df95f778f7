//go:build unix

package git

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"gitagent/test/gittest"
)

// TestOwned compares the owners that we look at with git's verdict.
func TestOwned(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file to somebody else")
	}
	for _, tt := range []struct {
		name    string
		strange []string // what belongs to somebody else; in the linked worktree if that is named
		dir     string
		want    bool
	}{
		{"all ours", nil, "repo", true},
		{"the worktree", []string{"repo"}, "repo", false},
		{".git", []string{"repo/.git"}, "repo", false},
		{"both", []string{"repo", "repo/.git"}, "repo", false},
		{"a file in it", []string{"repo/.git/config"}, "repo", true},
		{"linked", nil, "linked", true},
		{"the linked worktree", []string{"linked"}, "linked", false},
		{"its .git", []string{"linked/.git"}, "linked", false},
		{"its git directory", []string{"repo/.git/worktrees/linked"}, "linked", false},
		{"the main worktree, seen from the linked one", []string{"repo", "repo/.git"}, "linked", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := committed(t)
			r.Git("worktree", "add", "-q", "../linked")
			for _, name := range tt.strange {
				gittest.Must(t, os.Lchown(filepath.Join(filepath.Dir(r.Dir), name), 12345, -1))
			}
			there := r.In(filepath.Join(filepath.Dir(r.Dir), tt.dir))
			repo := find(t, there)
			_, err := there.Try("rev-parse", "--git-dir")
			if trusts := err == nil; trusts != tt.want {
				t.Fatalf("git: %v, want trusted: %t", err, tt.want)
			}
			if got := repo.Trusted(t.Context()); (got == nil) != tt.want {
				t.Errorf("Trusted = %v, want trusted: %t", got, tt.want)
			}
			if tt.want && !repo.owned() {
				t.Error("git was asked")
			}
			// A repository that git trusts from a worktree may be somebody else's.
			if own := repo.Own(); own && !tt.want || !own && tt.strange == nil {
				t.Errorf("Own = %t", own)
			}
		})
	}
}

// TestFindAmongPipes: a pipe in the place of a file of git's holds nobody up.
func TestFindAmongPipes(t *testing.T) {
	t.Parallel()
	for _, name := range []string{".git", ".git/HEAD", ".git/commondir"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := gittest.TempDir(t)
			if name != ".git" {
				for _, sub := range []string{"objects", "refs"} {
					gittest.Must(t, os.MkdirAll(filepath.Join(dir, ".git", sub), 0o777))
				}
				gittest.Must(t, os.WriteFile(filepath.Join(dir, ".git", "HEAD"), []byte("ref: refs/heads/main\n"), 0o666))
			}
			path := filepath.Join(dir, name)
			os.Remove(path)
			gittest.Must(t, syscall.Mkfifo(path, 0o666))
			if repo, err := Find(dir); !errors.Is(err, ErrNotFound) {
				t.Errorf("Find = %v, %v", repo, err)
			}
		})
	}
}
