package gitdiff

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
)

// A Size is how much differs between two trees.
type Size struct {
	Files, Insertions, Deletions int
}

// Sizes compares pairs of trees as [Shown] does, in one git process.
func Sizes(ctx context.Context, r *git.Repo, pairs [][2]object.Hash) ([]Size, error) {
	if len(pairs) == 0 {
		return nil, nil
	}
	var in strings.Builder
	for _, p := range pairs {
		fmt.Fprintf(&in, "%s %s\n", p[0], p[1])
	}
	args := slices.Concat([]string{"diff-tree", "--stdin", "-r", "-z", "--numstat"}, counting())
	out, err := r.With(git.Wary).Output(ctx, strings.NewReader(in.String()), args...)
	var sizes []Size
	if err == nil {
		sizes, err = parseSizes(out, pairs)
	}
	if err != nil {
		return nil, fmt.Errorf("compare %d pairs of trees: %w", len(pairs), err)
	}
	return sizes, nil
}

// parseSizes reads `git diff-tree --stdin -z --numstat`: headings, then counts.
func parseSizes(out []byte, pairs [][2]object.Hash) ([]Size, error) {
	sizes := make([]Size, len(pairs))
	for i := range pairs {
		rest, ok := bytes.CutPrefix(out, []byte(heading(pairs, i)))
		if !ok {
			return nil, Skipped(pairs[i][0], pairs[i][1])
		}
		next := []byte(heading(pairs, i+1))
		for len(rest) > 0 && (len(next) == 0 || !bytes.HasPrefix(rest, next)) {
			var s FileStat
			var err error
			if s, rest, err = cutNumstat(rest); err != nil {
				return nil, err
			}
			sizes[i].Files++
			sizes[i].Insertions += s.Insertions
			sizes[i].Deletions += s.Deletions
		}
		out = rest
	}
	return sizes, nil
}

// heading returns what git prints before the i-th pair.
func heading(pairs [][2]object.Hash, i int) string {
	if i == len(pairs) {
		return ""
	}
	return fmt.Sprintf("%s %s\n", pairs[i][0], pairs[i][1])
}

// Skipped is the error, a [plumbing.ErrObjectNotFound], for a pair of trees that
// `git diff-tree --stdin` has not compared. Where one of the two is not there, it
// goes on to the next pair, and its status is 0.
func Skipped(from, to object.Hash) error {
	return fmt.Errorf("compare trees %s and %s: %w", from, to, plumbing.ErrObjectNotFound)
}
