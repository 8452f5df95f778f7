package remote

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
)

// adoptWait bounds what the beginning of a session waits for its mission.
const adoptWait = 3 * time.Second

// Adopt fetches the mission whose branch is checked out, if its ledger is not here: the branch came from a remote, as branches do, without
// it, and the next turn would be number 1. It asks the remotes that something may be sent to, 3 s in all.
// It returns the mission, empty if there was nothing to fetch or no remote has it.
//
// Where another branch is checked out it costs the reading of one file.
func Adopt(ctx context.Context, repo *git.Repo, prefix string) (ledger.ID, error) {
	branch, err := repo.HeadRef(ctx)
	if err != nil {
		return "", fmt.Errorf("read HEAD: %w", err)
	}
	id, ok := ledger.OfBranch(branch, prefix)
	if !ok {
		return "", nil
	}
	refs, err := repo.Refs(ctx, id.Ref())
	if err != nil || len(refs) > 0 {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, adoptWait)
	defer cancel()
	conf, err := repo.Config(ctx)
	if err != nil {
		return "", err
	}
	remotes, err := Consenting(ctx, repo, conf, prefix)
	if err != nil {
		return "", err
	}
	var problems []error
	for _, r := range remotes {
		_, err := r.Fetch(ctx, id)
		if err == nil {
			return id, nil
		}
		if !errors.Is(err, git.ErrNotFound) {
			problems = append(problems, err)
		}
	}
	return "", errors.Join(problems...)
}
