package git

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
)

// CheckTop returns an error if to git the worktree is not where r has it. With extensions.worktreeConfig, a
// core.worktree in the file for all worktrees counts in all of them: a git that runs in a linked one checks
// out, or merges, over what the user works on in another.
func (r *Repo) CheckTop(ctx context.Context) error {
	out, err := r.Output(ctx, nil, "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	top := filepath.FromSlash(strings.TrimSuffix(string(out), "\n"))
	if sameDir(top, r.Top) {
		return nil
	}
	return fmt.Errorf("to git %s is %s, as core.worktree says in %s for all worktrees", r.Top, top, filepath.Join(r.CommonDir, "config"))
}
