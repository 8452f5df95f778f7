package git

import (
	"os"
	"path/filepath"
	"testing"

	"gitagent/test/gittest"
)

// TestTrusted: git decides who may work in a repository, and is not asked about the user's own.
func TestTrusted(t *testing.T) {
	r := committed(t)
	r.Git("worktree", "add", "-q", "../linked")
	r.Git("init", "-q", "--separate-git-dir", "../apart", "../separate")
	config := filepath.Join(os.Getenv("HOME"), ".gitconfig")
	t.Cleanup(func() { os.Remove(config) })
	for _, tt := range []struct {
		name   string
		differ string // GIT_TEST_ASSUME_DIFFERENT_OWNER
		safe   string // safe.directory; REPO is replaced by the worktree's top, "" for none
		local  bool   // in the repository's own configuration
		want   bool
	}{
		{name: "own", want: true},
		{name: "a stranger's", differ: "1"},
		{name: "a stranger's, says git's own test", differ: "0", want: true},
		{name: "a stranger's that is named", differ: "1", safe: "REPO", want: true},
		{name: "another is named", differ: "1", safe: "/home/dev/repo"},
		{name: "all are named", differ: "1", safe: "*", want: true},
		{name: "it names itself", differ: "1", safe: "*", local: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, dir := range []string{"repo", "linked", "separate"} {
				there := r.In(filepath.Join(filepath.Dir(r.Dir), dir))
				safe := tt.safe
				if safe == "REPO" {
					safe = there.Dir
				}
				text := ""
				if safe != "" && !tt.local {
					text = "[safe]\n\tdirectory = " + filepath.ToSlash(safe) + "\n"
				}
				if tt.local {
					there.Git("config", "safe.directory", safe)
				}
				gittest.Must(t, os.WriteFile(config, []byte(text), 0o666))
				t.Setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", tt.differ)
				repo := find(t, there)
				err := repo.Trusted(t.Context())
				if (err == nil) != tt.want {
					t.Errorf("%s: %v, want trusted: %t", dir, err, tt.want)
				}
				if err != nil && Status(err) != 128 {
					t.Errorf("%s: %v is not git's own refusal", dir, err)
				}
				os.Unsetenv("GIT_TEST_ASSUME_DIFFERENT_OWNER")
			}
		})
	}
}

// TestTrustedWithoutGit: the user's own repositories cost no process.
func TestTrustedWithoutGit(t *testing.T) {
	r := committed(t)
	r.Git("worktree", "add", "-q", "../linked")
	for _, dir := range []string{"repo", "linked"} {
		repo := find(t, r.In(filepath.Join(filepath.Dir(r.Dir), dir)))
		repo.program = filepath.Join(r.Dir, "no-git")
		if err := repo.Trusted(t.Context()); err != nil {
			t.Errorf("%s: %v", dir, err)
		}
	}
}
