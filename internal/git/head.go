package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// HeadRef returns the full name of the branch that HEAD is on, or "" if HEAD is detached. It reads
// one file, and asks git only if HEAD is not in that file (reftable).
func (r *Repo) HeadRef(ctx context.Context) (string, error) {
	data, err := os.ReadFile(filepath.Join(r.GitDir, "HEAD"))
	if err != nil {
		return "", err
	}
	ref, symbolic := strings.CutPrefix(strings.TrimSpace(string(data)), "ref: ")
	switch {
	case !symbolic:
		return "", nil
	case ref != "refs/heads/.invalid":
		return ref, nil
	}
	out, err := r.Output(ctx, nil, "symbolic-ref", "--quiet", "HEAD")
	if Status(err) == 1 {
		return "", nil
	}
	return strings.TrimSpace(string(out)), err
}

// IsAncestor reports whether a is b or an ancestor of it.
func (r *Repo) IsAncestor(ctx context.Context, a, b Hex) (bool, error) {
	_, err := r.Output(ctx, nil, "merge-base", "--is-ancestor", a.String(), b.String())
	if Status(err) == 1 {
		return false, nil
	}
	return err == nil, err
}

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
