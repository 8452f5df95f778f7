package turns

import (
	"context"

	"gitagent/internal/git"
)

// Unrecorded reports whether a fork's worktree, that of there, has unrecorded
// changes. Nothing untrusted runs. Unlike checkout.Unrecorded it uses git's
// status and HEAD's tree: agents work while forks are compared, and snapshots
// would delay their hooks and write objects. Files too large to record count
// here.
func (c *Compared) Unrecorded(ctx context.Context, there *git.Repo) (bool, error) {
	repo := there.With(git.Env("GIT_OPTIONAL_LOCKS=0"))
	if c.Foreign {
		var err error
		if repo, err = repo.Foreign(ctx); err != nil {
			return false, err
		}
	}
	changes, err := repo.Output(ctx, nil, "status", "--porcelain=v2", "-z", "-unormal", "--ignore-submodules=dirty")
	if err != nil || len(changes) > 0 {
		return err == nil, err
	}
	_, err = repo.Output(ctx, nil, "diff-tree", "-r", "--quiet", c.Commit.String(), "HEAD", "--")
	if git.Status(err) == 1 {
		return true, nil
	}
	return false, err
}
