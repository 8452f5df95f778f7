package git

import (
	"bytes"
	"context"
	"fmt"
	"strconv"

	"github.com/go-git/go-git/v5/plumbing"
)

// A FileStat is what changed in one path between two trees.
type FileStat struct {
	Path                  string // bytes as git has them
	Insertions, Deletions int    // lines; both 0 for a binary file
	Binary                bool
}

// DiffTrees returns what differs between two trees, counted as `git diff` does by default, whatever
// the user has configured: a moved file that is at least half unchanged counts as one path, the new
// one. The order is git's. See [Objects.Stat] for small differences.
func (r *Repo) DiffTrees(ctx context.Context, from, to plumbing.Hash) ([]FileStat, error) {
	return r.numstat(ctx, from, to, DiffCounting()...)
}

// DiffCounting returns the flags that make `git diff` count and show what [Repo.DiffTrees] counts.
func DiffCounting() []string {
	return []string{"--find-renames=50%", "-l1000", "--diff-algorithm=default"}
}

// DiffPaths returns every path that differs between two trees, in git's order. A moved file is two
// paths.
func (r *Repo) DiffPaths(ctx context.Context, from, to plumbing.Hash) ([]FileStat, error) {
	return r.numstat(ctx, from, to, "--no-renames")
}

func (r *Repo) numstat(ctx context.Context, from, to plumbing.Hash, flags ...string) ([]FileStat, error) {
	args := append([]string{"diff-tree", "-r", "-z", "--numstat", "--no-ext-diff", "--no-textconv"}, flags...)
	out, err := r.Output(ctx, nil, append(args, from.String(), to.String())...)
	if err != nil {
		return nil, fmt.Errorf("compare trees %s and %s: %w", from, to, err)
	}
	var stats []FileStat
	for len(out) > 0 {
		var line []byte
		line, out, _ = bytes.Cut(out, []byte{0})
		fields := bytes.SplitN(line, []byte{'\t'}, 3)
		if len(fields) != 3 {
			return nil, fmt.Errorf("compare trees %s and %s: unexpected line %q", from, to, line)
		}
		path := fields[2]
		if len(path) == 0 { // a rename: the old path and the new one follow
			_, out, _ = bytes.Cut(out, []byte{0})
			path, out, _ = bytes.Cut(out, []byte{0})
		}
		s := FileStat{Path: string(path), Binary: fields[0][0] == '-'}
		if !s.Binary {
			if s.Insertions, err = strconv.Atoi(string(fields[0])); err == nil {
				s.Deletions, err = strconv.Atoi(string(fields[1]))
			}
			if err != nil {
				return nil, fmt.Errorf("compare trees %s and %s: %w", from, to, err)
			}
		}
		stats = append(stats, s)
	}
	return stats, nil
}
