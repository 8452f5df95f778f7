package turns

import (
	"context"

	"gitagent/internal/git"
	"gitagent/internal/snapshot"
	"gitagent/internal/transaction"
	"gitagent/internal/workspace"
)

// Unrecorded returns the worktree of an attached mission if that has changes which are not in the mission's
// last turn, in whose end s is; "" if there is none, or s is of an earlier turn. With foreign nothing of the
// worktree runs.
//
// Git's status does not tell: what the user has committed there is not recorded either.
func (r *Recorder) Unrecorded(ctx context.Context, s *State, foreign bool) (string, error) {
	objects := r.Repo.Objects(ctx)
	defer objects.Close()
	last, _, err := lastNumber(ctx, r.Repo, objects, s.In)
	if err != nil || last != s.Turn.Turn {
		return "", err
	}
	dir, err := r.Repo.WorktreeOf(ctx, r.Branch(s.In))
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
	recorded, err := objects.TreeOf(s.Commit.Hash())
	if err != nil {
		return "", err
	}
	there := workspace.New(repo, r.Settings)
	var snap *snapshot.Snapshot
	err = transaction.Worktree(ctx, there, func() error {
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
