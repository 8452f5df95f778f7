package snapshot

import (
	"context"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
)

// CheckOut makes the worktree what tree holds. The snapshot must have been taken with Publish.
// Only paths that the snapshot holds, in the state that it has, are changed or removed: git refuses all of it
// if a path was changed since, and a file that the snapshot left out (ignored, skipped) and that is in the
// way gives an [*InWayError]. With dry it only says whether it would work.
//
// The user's index, HEAD and branch stay as they are.
func (s *Snapshot) CheckOut(ctx context.Context, tree plumbing.Hash, dry bool) error {
	args := []string{"read-tree", "-m", "-u"}
	if dry {
		args = append(args, "--dry-run")
	}
	err := s.clear(ctx, tree)
	if err == nil {
		err = s.index.goAhead("")
	}
	if err == nil {
		_, err = s.index.git(ctx, s.index.path, "", append(args, s.Tree.String(), tree.String())...)
	}
	if err != nil {
		return fmt.Errorf("check out tree %s: %w", tree, err)
	}
	return nil
}
