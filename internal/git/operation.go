package git

import (
	"os"
	"path/filepath"
	"strings"
)

// Operation names what git has under way in the worktree: "merge", "rebase", "cherry-pick",
// "revert" or "bisect", or "" for nothing.
func (r *Repo) Operation() string {
	for _, op := range []struct{ file, name string }{
		{"rebase-merge", "rebase"},
		{"rebase-apply", "rebase"},
		{"MERGE_HEAD", "merge"},
		{"CHERRY_PICK_HEAD", "cherry-pick"},
		{"REVERT_HEAD", "revert"},
		{"BISECT_LOG", "bisect"},
		{"sequencer/todo", "cherry-pick"}, // or a revert of several commits, between two of them
	} {
		if _, err := os.Lstat(filepath.Join(r.GitDir, op.file)); err == nil {
			return op.name
		}
	}
	return ""
}

// RebasedBranch returns the full name of the branch that a running rebase will move, or "". HEAD is
// detached during a rebase.
func (r *Repo) RebasedBranch() string {
	for _, dir := range []string{"rebase-merge", "rebase-apply"} {
		b, err := os.ReadFile(filepath.Join(r.GitDir, dir, "head-name"))
		if name := strings.TrimSpace(string(b)); err == nil && strings.HasPrefix(name, "refs/heads/") {
			return name
		}
	}
	return ""
}
