package git

import (
	"context"
	"io"
	"os"
	"path/filepath"
)

// Records reports whether `git add` would add a file of the worktree.
func (r *Repo) Records(ctx context.Context, path string) bool {
	path, err := filepath.Abs(path)
	if err != nil || inGitDir(r, path) { // there, check-ignore says "not ignored"
		return false
	}
	return Status(r.Run(ctx, nil, io.Discard, io.Discard, "check-ignore", "--quiet", "--", path)) == 1 // else 128
}

func inGitDir(r *Repo, path string) bool {
	common, err := os.Stat(r.CommonDir)
	if err != nil {
		return false
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && os.SameFile(info, common) {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}
