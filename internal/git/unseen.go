package git

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Unseen reports whether the directory of a linked worktree, which is not here,
// may exist all the same: a container mounts only the repository, a disk is not
// mounted. It is known to be gone if the nearest directory above it is in the
// mount of the repository, and has something in it, as a mount point without
// its mount has not.
func (r *Repo) Unseen(path string) bool {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return err != nil
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		entries, err := os.ReadDir(dir)
		if errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir) {
			continue
		}
		return err != nil || len(entries) == 0 || !sameMount(dir, r.CommonDir)
	}
}

// Behind returns what the repository has of a linked worktree, whose own
// directory need not be here: HEAD, index, what git has under way. It is nil if
// there is none at the path.
func (r *Repo) Behind(path string) *Repo {
	for _, dir := range r.Glob("worktrees/*") {
		text, err := readPlain(filepath.Join(dir, "gitdir"))
		link := filepath.FromSlash(strings.TrimSpace(string(text)))
		if !filepath.IsAbs(link) { // extensions.relativeWorktrees
			link = filepath.Join(dir, link)
		}
		if err == nil && filepath.Dir(link) == filepath.Clean(path) {
			s := r.With(In(r.CommonDir), Env("GIT_DIR="+dir))
			s.Top, s.GitDir = path, dir
			return s
		}
	}
	return nil
}
