package git

import (
	"cmp"
	"context"
	"fmt"
	"strings"
)

// Matching returns the files in any of the trees that match pathspecs, in one
// walk: each tree is compared with the one before it.
func (r *Repo) Matching(ctx context.Context, trees []Hash, only Paths) (map[string]bool, error) {
	var pairs strings.Builder
	before := r.Format().EmptyTree()
	for _, tree := range trees {
		fmt.Fprintf(&pairs, "%s %s\n", before, tree)
		before = tree
	}
	there := *r
	there.dir = cmp.Or(only.Dir, r.dir)
	args := []string{"diff-tree", "--stdin", "-r", "-z", "--raw", "--no-renames", "--no-relative", "--"}
	out, err := there.Output(ctx, strings.NewReader(pairs.String()), append(args, only.Specs...)...)
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
