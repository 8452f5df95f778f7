package ledger

import (
	"context"
	"errors"

	"gitagent/internal/git"
)

// commitsAtOnce is how many commits [Since] reads at once.
const commitsAtOnce = 1000

// Since returns the commits of a ledger that ends at tip, as far as they come after another one of its
// commits, zero for all: the newest first, at most so many. whole is false if there are more. They are
// read as they are stored, also where the clone is shallow; one that is not here is an error.
func Since(ctx context.Context, repo *git.Repo, objects *git.Objects, tip, before git.Hash, most int) (commits []*git.Commit, whole bool, err error) {
	for at := tip; at != before && !at.IsZero(); {
		if len(commits) == most {
			return commits, false, nil
		}
		hashes, err := repo.FirstParents(ctx, at, min(most-len(commits), commitsAtOnce))
		if err != nil {
			return nil, false, err
		}
		wanted := make([]git.Wanted, len(hashes))
		for i, hash := range hashes {
			wanted[i] = git.Wanted{Hash: git.NewHash(hash), Most: git.MaxCommit}
		}
		err = objects.Each(wanted, func(i int, obj *git.Object, err error) error {
			switch {
			case at == before || wanted[i].Hash != at:
				return errRead
			case err != nil:
				return err
			}
			c, err := git.ParseCommit(obj.Content)
			if err != nil {
				return err
			}
			commits, at = append(commits, c), git.Hash{}
			if len(c.Parents) > 0 {
				at = c.Parents[0]
			}
			return nil
		})
		if err != nil && !errors.Is(err, errRead) {
			return nil, false, err
		}
	}
	return commits, true, nil
}

// errRead ends the reading of commits.
var errRead = errors.New("read")
