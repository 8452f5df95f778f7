package git

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
)

// CheckTop returns an error if git finds the worktree elsewhere than r. A
// shared core.worktree applies to linked worktrees, too
// (extensions.worktreeConfig): git there would check out over the user's work.
func (r *Repo) CheckTop(ctx context.Context) error {
	out, err := r.Output(ctx, nil, "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	top := filepath.FromSlash(strings.TrimSuffix(string(out), "\n"))
	if SameFile(top, r.Top) {
		return nil
	}
	return fmt.Errorf("to git %s is %s, as core.worktree says in %s for all worktrees", r.Top, top, filepath.Join(r.CommonDir, "config"))
}
