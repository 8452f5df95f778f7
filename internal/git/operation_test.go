package git

import (
	"path/filepath"
	"testing"

	"gitagent/test/gittest"
)

func TestOperation(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, tt := range []struct {
		name     string
		commands [][]string // only the last one may fail, stopping in the middle
		want     string
		branch   string
	}{
		{"nothing", nil, "", ""},
		{"merge", [][]string{{"merge", "other"}}, "merge", ""},
		{"merge that waits for its commit", [][]string{{"merge", "--no-commit", "--no-ff", "clean"}}, "merge", ""},
		{"rebase", [][]string{{"rebase", "other"}}, "rebase", "refs/heads/main"},
		{"rebase with the apply backend", [][]string{{"rebase", "--apply", "other"}}, "rebase", "refs/heads/main"},
		{"rebase of a detached HEAD", [][]string{{"checkout", "-q", "--detach"}, {"rebase", "other"}}, "rebase", ""},
		{"rebase, aborted", [][]string{{"rebase", "other"}, {"rebase", "--abort"}}, "", ""},
		{"cherry-pick", [][]string{{"cherry-pick", "other"}}, "cherry-pick", ""},
		{"cherry-pick of several, between two", [][]string{{"cherry-pick", "other", "clean"}, {"checkout", "-q", "--ours", "a"}, {"add", "a"}, {"commit", "-q", "--allow-empty", "-m", "resolved"}}, "cherry-pick", ""},
		{"revert", [][]string{{"revert", "--no-edit", "HEAD~1"}}, "revert", ""},
		{"bisect", [][]string{{"bisect", "start", "HEAD", "HEAD~1"}}, "bisect", ""},
		{"am", [][]string{{"am", "patch"}}, "rebase", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			gittest.Sample(t)
			r := committed(t)
			r.Git("branch", "clean")
			r.Write("a", "middle\n")
			r.Commit("two")
			r.Git("checkout", "-q", "-b", "other")
			r.Write("a", "other\n")
			r.Commit("other")
			r.Git("format-patch", "-q", "-1", "-o", "..")
			r.Git("checkout", "-q", "clean")
			r.Write("c", "c\n")
			r.Commit("clean")
			r.Git("checkout", "-q", "main")
			r.Write("a", "main\n")
			r.Commit("three")
			for _, args := range tt.commands {
				if args[0] == "am" {
					args = []string{"am", "../0001-other.patch"}
				}
				_, _ = r.Try(args...)
			}
			for name, seen := range map[string]*gittest.Repo{"main worktree": r, "linked worktree": linked(t, r)} {
				repo := find(t, seen)
				want, branch := tt.want, tt.branch
				if name == "linked worktree" {
					want, branch = "", ""
				}
				if got, err := repo.Operation(t.Context()); got != want || err != nil {
					t.Errorf("%s: Operation = %q, %v, want %q", name, got, err, want)
				}
				if got := repo.RebasedBranch(); got != branch {
					t.Errorf("%s: RebasedBranch = %q, want %q", name, got, branch)
				}
			}
		})
	}
}

// linked adds another worktree, with nothing under way in it.
func linked(t testing.TB, r *gittest.Repo) *gittest.Repo {
	t.Helper()
	dir := filepath.Join(gittest.TempDir(t), "linked")
	r.Git("worktree", "add", "-q", "--detach", dir)
	return r.In(dir)
}
