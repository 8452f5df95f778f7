package snapshot

import (
	"context"
	"fmt"
	"os"

	"github.com/go-git/go-git/v5/plumbing"
)

// CheckOut makes the worktree match tree. The snapshot must have been taken with Publish. Only
// paths that are still as in the snapshot are changed or removed: git refuses everything if a path
// was changed since, and a file in the way that the snapshot left out (ignored, skipped) gives an
// [*InWayError]. With dry it only says whether it would work.
//
// The user's index, HEAD and branch stay as they are.
func (s *Snapshot) CheckOut(ctx context.Context, tree plumbing.Hash, dry bool) error {
	args := []string{"read-tree", "-m", "-u"}
	if dry {
		args = append(args, "--dry-run")
	}
	defer os.Remove(s.index.newPath()) // nobody will publish it
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
