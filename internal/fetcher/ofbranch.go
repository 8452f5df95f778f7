package fetcher

import (
	"context"
	"errors"
	"fmt"

	"gitagent/internal/git"
	"gitagent/internal/limit"
	"gitagent/internal/record"
	"gitagent/internal/remote"
	"gitagent/internal/workspace"
)

// OfBranch fetches the mission of the checked-out branch if its ledger is
// not here: fetching a branch does not bring the ledger, and the next turn
// would be number 1. It asks consenting remotes, within one time limit, and
// returns "" if there was nothing to fetch. For another branch it only reads
// one file.
func OfBranch(ctx context.Context, w *workspace.Workspace) (record.ID, error) {
	branch, err := w.Repo.HeadRef(ctx)
	if err != nil {
		return "", fmt.Errorf("read HEAD: %w", err)
	}
	id, ok := w.MissionOf(branch)
	if !ok {
		return "", nil
	}
	refs, err := w.Repo.Refs(ctx, id.Ref())
	if err != nil || len(refs) > 0 {
		return "", err
	}
	ctx, cancel := limit.Within(ctx, limit.Of(ctx).FetchOfBranch)
	defer cancel()
	conf, err := w.Repo.Config(ctx)
	if err != nil {
		return "", err
	}
	remotes, err := remote.Consenting(ctx, w, conf)
	if err != nil {
		return "", err
	}
	var problems []error
	for i, r := range remotes {
		if i > 0 && remotes[i-1].Name == r.Name {
			continue // another URL that is pushed to
		}
		_, err := Fetch(ctx, r, id)
		if err == nil {
			return id, nil
		}
		if !errors.Is(err, git.ErrNotFound) {
			problems = append(problems, err)
		}
	}
	return "", errors.Join(problems...)
}
