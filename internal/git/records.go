package git

import (
	"context"
	"io"
	"os"
	"path/filepath"
)

// Records reports whether a file lies in the worktree and is not ignored: `git add` would take it.
func (r *Repo) Records(ctx context.Context, path string) bool {
	path, err := filepath.Abs(path)
	if err != nil || r.inGitDir(path) { // of which check-ignore says that it is not ignored
		return false
	}
	return Status(r.Run(ctx, nil, io.Discard, io.Discard, "check-ignore", "--quiet", "--", path)) == 1 // 128 outside of the worktree
}

// inGitDir reports whether a file lies in the directory that all worktrees share, whatever links lead to it.
func (r *Repo) inGitDir(path string) bool {
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
