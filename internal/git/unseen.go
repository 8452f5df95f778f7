package git

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Unseen reports whether the directory of a linked worktree, which is not here,
// may exist all the same: a container mounts only the repository, or has made
// the worktree; a disk is not mounted; it was moved. It is known to be gone if
// the directory above it is in the mount of the repository, and has something
// in it, as a mount point without its mount has not; and if what git has of it
// is no more than HEAD. If git has nothing of it, the nearest directory above
// decides.
func (r *Repo) Unseen(ctx context.Context, path string) bool {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return err != nil
	}
	at := r.Behind(path)
	if at != nil && at.holds(ctx) {
		return true
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		entries, err := os.ReadDir(dir)
		if at == nil && errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir) {
			continue
		}
		return err != nil || len(entries) == 0 || !sameMount(dir, r.CommonDir)
	}
}

// holds reports whether a worktree's git directory may have what nothing else
// has: staged content, or what git has under way.
func (r *Repo) holds(ctx context.Context) bool {
	if op, err := r.Operation(ctx); err != nil || op != "" {
		return true
	}
	if _, err := os.Lstat(filepath.Join(r.GitDir, "index")); errors.Is(err, fs.ErrNotExist) {
		return false
	}
	out, err := r.With(Others).Output(ctx, nil, "diff-index", "--cached", "--ignore-submodules=none", "-z", "HEAD", "--")
	return err != nil || len(out) > 0
}

// Hidden returns what this user may not look at of the repository's linked
// worktrees, or "": git lists none of those.
func (r *Repo) Hidden() string {
	top := filepath.Join(r.CommonDir, "worktrees")
	entries, err := os.ReadDir(top)
	if errors.Is(err, fs.ErrPermission) {
		return top
	}
	for _, e := range entries {
		for _, name := range []string{"gitdir", "HEAD"} {
			path := filepath.Join(top, e.Name(), name)
			if _, err := readPlain(path); errors.Is(err, fs.ErrPermission) {
				return path
			}
		}
	}
	return ""
}

// Behind returns what the repository has of a linked worktree, whose own
// directory need not be here: HEAD, index, what git has under way. It is nil if
// there is none at the path.
func (r *Repo) Behind(path string) *Repo {
	for _, dir := range r.Glob("worktrees/*") {
		if topBehind(dir) == filepath.Clean(path) {
			s := r.With(In(r.CommonDir), Env("GIT_DIR="+dir))
			s.Top, s.GitDir = path, dir
			return s
		}
	}
	return nil
}

// TopOf returns the top of the repository's worktree with a git directory, or
// "" if that is not known.
func (r *Repo) TopOf(ctx context.Context, gitDir string) string {
	switch gitDir {
	case r.GitDir:
		return r.Top
	case r.CommonDir:
		return r.Main(ctx)
	}
	return topBehind(gitDir)
}

// topBehind returns where a linked worktree is that has its git directory in
// dir, or "".
func topBehind(dir string) string {
	text, err := readPlain(filepath.Join(dir, "gitdir"))
	if err != nil {
		return ""
	}
	link := filepath.FromSlash(strings.TrimSpace(string(text)))
	if !filepath.IsAbs(link) { // extensions.relativeWorktrees
		link = filepath.Join(dir, link)
	}
	return filepath.Dir(link)
}
