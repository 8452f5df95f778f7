package turns

import (
	"context"

	"gitagent/internal/git"
	"gitagent/internal/ledgertx"
	"gitagent/internal/snapshot"
	"gitagent/internal/workspace"
)

// Unrecorded returns the worktree of an attached mission if it has changes
// since s, the end of the last turn; else, or if s is earlier, "". With foreign
// nothing of the worktree runs. The user's commits there count as changes,
// unlike in git's status, unless committed is set.
func (r *Recorder) Unrecorded(ctx context.Context, s *State, foreign, committed bool) (string, error) {
	objects := r.Repo.Objects(ctx)
	defer objects.Close()
	last, _, err := lastNumber(ctx, r.Repo, objects, s.In)
	if err != nil || last != s.Turn.Turn {
		return "", err
	}
	branch := r.Branch(s.In)
	dir, err := r.Repo.WorktreeOf(ctx, branch)
	if err != nil || dir == "" {
		return "", err
	}
	repo, err := git.Find(dir)
	if err != nil || repo.CommonDir != r.Repo.CommonDir {
		return "", nil // it is gone, and git was not told
	}
	if foreign {
		if repo, err = repo.Foreign(ctx); err != nil {
			return "", err
		}
	}
	known := s.Commit
	if committed {
		refs, err := r.Repo.Refs(ctx, branch)
		if err != nil {
			return "", err
		}
		known = refs[branch]
	}
	recorded, err := objects.TreeOf(known)
	if err != nil {
		return "", err
	}
	there := workspace.New(repo, r.Settings)
	var snap *snapshot.Snapshot
	err = ledgertx.Worktree(ctx, there, func() error {
		snap, err = snapshot.Take(ctx, repo, objects, snapshot.Options{
			Policy: there.Policy(), Config: func() (git.Config, error) { return repo.Config(ctx) },
		})
		return err
	})
	if err != nil || snap.Tree == recorded {
		return "", err
	}
	return dir, nil
}

// Unrecorded reports whether a fork's worktree, that of there, has unrecorded
// changes. Nothing untrusted runs. Unlike [Recorder.Unrecorded] it uses git's
// status and HEAD's tree: agents work while forks are compared, and snapshots
// would delay their hooks and write objects. Files too large to record count
// here.
func (c *Compared) Unrecorded(ctx context.Context, there *git.Repo) (bool, error) {
	repo := there.With("GIT_OPTIONAL_LOCKS=0")
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
