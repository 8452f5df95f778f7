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

// A TreeDiff is a waiting `git diff-tree --stdin`.
type TreeDiff struct{ proc *Process }

// StartDiff starts a diff of two trees that need not exist yet.
// The caller ends it with Stat or Abort.
func (r *Repo) StartDiff(ctx context.Context) (*TreeDiff, error) {
	p, err := r.Start(ctx, "diff-tree", "--stdin", "-r", "-z", "--numstat", "--no-renames", "--no-ext-diff", "--no-textconv")
	if err != nil {
		return nil, err
	}
	return &TreeDiff{p}, nil
}

// Abort ends a diff that is not needed. After Stat it does nothing.
func (d *TreeDiff) Abort() { d.proc.Kill() }

// Stat returns what differs between two trees, in git's order of paths.
func (d *TreeDiff) Stat(from, to plumbing.Hash) ([]FileStat, error) {
	header := from.String() + " " + to.String() + "\n"
	out, err := d.proc.Finish([]byte(header))
	if err != nil {
		return nil, fmt.Errorf("compare trees %s and %s: %w", from, to, err)
	}
	out = bytes.TrimPrefix(out, []byte(header))
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
