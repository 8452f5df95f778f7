package git

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Worktree is one checkout of the repository.
type Worktree struct {
	Path   string
	Branch string        // full name; empty if HEAD is detached there
	Head   plumbing.Hash // zero on an unborn branch
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
			case "HEAD":
				w.Head = plumbing.NewHash(value)
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

// Main returns where git runs in the main worktree: its top, or a bare repository itself. A
// relative URL means the same there whichever worktree asks, and the place stays when a linked
// worktree is removed. A git directory that lies apart does not say whose it is; then the result is
// the worktree of r.
func (r *Repo) Main(ctx context.Context) string {
	if r.GitDir == r.CommonDir && r.Top != "" {
		return r.Top
	}
	if top := filepath.Dir(r.CommonDir); filepath.Join(top, ".git") == r.CommonDir {
		return top
	}
	out, err := at(r.CommonDir, environ(location)).Output(ctx, nil, "rev-parse", "--is-bare-repository", "--show-toplevel")
	bare, top, _ := strings.Cut(strings.TrimSuffix(string(out), "\n"), "\n")
	switch {
	case err == nil: // core.worktree, as in a submodule
		return filepath.FromSlash(top)
	case bare == "true" || r.Top == "":
		return r.CommonDir
	}
	return r.Top
}
