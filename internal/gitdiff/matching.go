package gitdiff

import (
	"context"
	"fmt"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
)

// Matching returns the files in any of the trees that match pathspecs. A tree
// that is not there has none.
func Matching(ctx context.Context, r *git.Repo, trees []object.Hash, only Paths) (map[string]bool, error) {
	pairs := make([][2]object.Hash, len(trees))
	before := r.Format().EmptyTree()
	for i, tree := range trees { // in one walk: each is compared with the one before it
		pairs[i] = [2]object.Hash{before, tree}
		before = tree
	}
	found, compared, err := matching(ctx, r, pairs, only)
	if err != nil || compared == len(pairs) {
		return found, err
	}
	for i := range pairs { // git skips the pairs of a tree that is not there, and so what the next one adds
		pairs[i][0] = r.Format().EmptyTree()
	}
	found, _, err = matching(ctx, r, pairs, only)
	return found, err
}

// matching returns the files that match and differ in any of the pairs of trees, and how many pairs git has compared.
func matching(ctx context.Context, r *git.Repo, pairs [][2]object.Hash, only Paths) (found map[string]bool, compared int, err error) {
	var in strings.Builder
	for _, p := range pairs {
		fmt.Fprintf(&in, "%s %s\n", p[0], p[1])
	}
	args := []string{"diff-tree", "--stdin", "-r", "-z", "--raw", "--no-renames", "--"}
	out, err := r.With(git.In(only.Dir)).Output(ctx, strings.NewReader(in.String()), append(args, only.Specs...)...)
	if err != nil {
		return nil, 0, err
	}
	found = make(map[string]bool)
	// Before each path are a line for each pair begun, and `:<mode> <mode> <hash> <hash> <status>`.
	for fields := strings.Split(string(out), "\x00"); ; fields = fields[2:] {
		compared += strings.Count(fields[0], "\n")
		if len(fields) < 2 {
			return found, compared, nil
		}
		found[fields[1]] = true
	}
}
