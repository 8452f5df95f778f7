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

// DiffTrees returns what differs between two trees, in git's order of paths.
// See [Objects.Stat] for the small case.
func (r *Repo) DiffTrees(ctx context.Context, from, to plumbing.Hash) ([]FileStat, error) {
	out, err := r.Output(ctx, nil, "diff-tree", "-r", "-z", "--numstat", "--no-renames", "--no-ext-diff", "--no-textconv", from.String(), to.String())
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
		s := FileStat{Path: string(fields[2]), Binary: fields[0][0] == '-'}
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
