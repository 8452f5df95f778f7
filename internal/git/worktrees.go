package git

import (
	"context"
	"strings"
)

// A Worktree is one checkout of the repository.
type Worktree struct {
	Path   string
	Branch string // full name; empty if HEAD is detached there
}

// Worktrees lists the worktrees, the main one first.
func (r *Repo) Worktrees(ctx context.Context) ([]Worktree, error) {
	out, err := r.Output(ctx, nil, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return nil, err
	}
	var list []Worktree
	for _, record := range strings.Split(string(out), "\x00\x00") {
		var w Worktree
		for _, line := range strings.Split(record, "\x00") {
			key, value, _ := strings.Cut(line, " ")
			switch key {
			case "worktree":
				w.Path = value
			case "branch":
				w.Branch = value
			}
		}
		if w.Path != "" {
			list = append(list, w)
		}
	}
	return list, nil
}
