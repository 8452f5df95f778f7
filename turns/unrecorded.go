package turns

import (
	"context"

	"gitagent/internal/git"
	"gitagent/internal/ledgertx"
	"gitagent/internal/snapshot"
	"gitagent/internal/workspace"
)

// Unrecorded returns the worktree of an attached mission if that has changes which are not in the mission's
// last turn, in whose end s is; "" if there is none, or s is of an earlier turn. With foreign nothing of the
// worktree runs.
//
// Git's status does not tell: what the user has committed there is not recorded either. With committed it is
// left out all the same.
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

// Unrecorded reports whether the worktree of a fork has changes that no turn has recorded. It is the one of
// the repository that is given. Nothing of a stranger's runs.
//
// It is git's status and HEAD's tree that tell, other than for [Recorder.Unrecorded]: forks are compared while
// their agents work, and a snapshot of each would keep their hooks waiting and write objects. A file that no
// turn ever records, as one that is too large, counts as a change here.
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
