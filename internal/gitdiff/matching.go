package gitdiff

import (
	"context"
	"fmt"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
)

// Matching returns the files in any of the trees that match pathspecs, in one
// walk: each tree is compared with the one before it.
func Matching(ctx context.Context, r *git.Repo, trees []object.Hash, only Paths) (map[string]bool, error) {
	var pairs strings.Builder
	before := r.Format().EmptyTree()
	for _, tree := range trees {
		fmt.Fprintf(&pairs, "%s %s\n", before, tree)
		before = tree
	}
	args := []string{"diff-tree", "--stdin", "-r", "-z", "--raw", "--no-renames", "--"}
	out, err := r.With(git.In(only.Dir)).Output(ctx, strings.NewReader(pairs.String()), append(args, only.Specs...)...)
	if err != nil {
		return nil, err
	}
	found := make(map[string]bool)
	fields := strings.Split(string(out), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		// A line for the pair, then `:<mode> <mode> <hash> <hash> <status>` and
		// a path.
		found[fields[i+1]] = true
	}
	return found, nil
}
