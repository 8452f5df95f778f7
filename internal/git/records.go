package git

import (
	"context"
	"io"
	"path/filepath"
)

// Records reports whether a file lies in the worktree and is not ignored: `git add` would take it.
func (r *Repo) Records(ctx context.Context, path string) bool {
	path, err := filepath.Abs(path)
	if err != nil {
		return false
	}
	return Status(r.Run(ctx, nil, io.Discard, io.Discard, "check-ignore", "--quiet", "--", path)) == 1 // 128 outside of the worktree
}
