package checkout

import (
	"context"

	"gitagent/internal/git"
	"gitagent/internal/ledgertx"
	"gitagent/internal/snapshot"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// Unrecorded returns the worktree of an attached mission if it has changes
// since s, the end of the last turn; else, or if s is earlier, "". With foreign
// nothing of the worktree runs. The user's commits there count as changes,
// unlike in git's status, unless committed is set.
func Unrecorded(ctx context.Context, w *workspace.Workspace, s *turns.State, foreign, committed bool) (string, error) {
	objects := w.Repo.Objects(ctx)
	defer objects.Close()
	last, _, err := turns.LastNumber(ctx, w.Repo, objects, s.In)
	if err != nil || last != s.Turn.Turn {
		return "", err
	}
	branch := w.Branch(s.In)
	dir, err := w.Repo.WorktreeOf(ctx, branch)
	if err != nil || dir == "" {
		return "", err
	}
	repo, err := git.Find(dir)
	if err != nil || repo.CommonDir != w.Repo.CommonDir {
		return "", nil // it is gone, and git was not told
	}
	if foreign {
		if repo, err = repo.Foreign(ctx); err != nil {
			return "", err
		}
	}
	known := s.Commit
	if committed {
		refs, err := w.Repo.Refs(ctx, branch)
		if err != nil {
			return "", err
		}
		known = refs[branch]
	}
	recorded, err := objects.TreeOf(known)
	if err != nil {
		return "", err
	}
	there := workspace.New(repo, w.Settings)
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
