package command

import (
	"os"
	"path/filepath"
	"testing"

	"gitagent/internal/git"
	"gitagent/test/gittest"
)

// Which repositories are a session's own: that of the directory where it began, and those below.
func TestWithin(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Write("sub/one", "1\n")
	r.Commit("first")
	dir := filepath.Dir(r.Dir)
	at := func(names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
	r.Git("worktree", "add", "-q", "--detach", at("linked"))
	r.Git("clone", "-q", ".", at("other"))
	r.Git("clone", "-q", ".", at("repo", "nested"))
	r.Git("-C", at("other"), "worktree", "add", "-q", "--detach", at("repo", "foreign"))
	for _, name := range []string{at("outside"), at("repo", "named"), at("repo", "link")} {
		gittest.Must(t, os.Mkdir(name, 0o777))
	}
	r.Write("named/.git", "gitdir: "+at("other", ".git")+"\n")
	gittest.Must(t, os.Symlink(at("other", ".git"), at("repo", "link", ".git")))
	for _, tt := range []struct {
		name, home, of string
		top            string // that the environment names, "" for the repository's own
		want           bool
	}{
		{"the same", at("repo"), at("repo"), "", true},
		{"from a directory of it", at("repo", "sub"), at("repo"), "", true},
		{"its linked worktree", at("repo"), at("linked"), "", true},
		{"from its linked worktree", at("linked"), at("repo"), "", true},
		{"one below", at("repo"), at("repo", "nested"), "", true},
		{"one below a directory that is none", dir, at("other"), "", true},
		{"one beside it", at("repo"), at("other"), "", false},
		{"the one around it", at("repo", "nested"), at("repo"), "", false},
		{"a worktree below of one beside it", at("repo"), at("repo", "foreign"), "", false},
		{"a directory below that names one beside it", at("repo"), at("repo", "named"), "", false},
		{"a directory below with a link to one beside it", at("repo"), at("repo", "link"), "", false},
		{"one beside it, with this worktree", at("repo"), at("other"), at("repo"), false},
		{"the same, with a worktree elsewhere", at("repo"), at("repo"), at("outside"), false},
		{"the same, with a directory of it as the worktree", at("repo"), at("repo"), at("repo", "sub"), true},
	} {
		repo, err := git.Find(tt.of)
		gittest.Must(t, err)
		if tt.top != "" {
			repo.Top = tt.top
		}
		if got := within(repo, tt.home); got != tt.want {
			t.Errorf("%s: %t, want %t", tt.name, got, tt.want)
		}
	}
}
