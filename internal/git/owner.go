package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Trusted returns nil if git would work in a repository from [Find]. Otherwise
// the error is git's own, with its advice. Git is not asked if the repository
// is the user's; else it decides, because safe.directory's meaning has changed
// often.
func (r *Repo) Trusted(ctx context.Context) error {
	if os.Getenv("GIT_TEST_ASSUME_DIFFERENT_OWNER") == "" && r.owned() {
		return nil
	}
	out, err := r.Output(ctx, nil, "rev-parse", "--absolute-git-dir")
	if err != nil {
		return err
	}
	if dir := filepath.FromSlash(strings.TrimSuffix(string(out), "\n")); !SameFile(dir, r.GitDir) {
		return fmt.Errorf("git finds another repository in %s: %s", r.Top, dir)
	}
	return nil
}

// owned reports whether what git checks is ours: the worktree, .git (a link and
// its target), and the git directory that a file .git names.
func (r *Repo) owned() bool {
	top, err := os.Lstat(r.Top)
	if err != nil || !ours(r.Top, top) {
		return false
	}
	path := filepath.Join(r.Top, ".git")
	link, err := os.Lstat(path)
	if err != nil || !ours(path, link) {
		return false
	}
	if link.IsDir() {
		return true // r.GitDir
	}
	dir, err := os.Stat(r.GitDir)
	return err == nil && ours(r.GitDir, dir)
}

// Own reports whether the worktree, if there is one, and all of its repository
// belong to the user of this process, whatever safe.directory lets git work in.
func (r *Repo) Own() bool {
	if os.Getenv("GIT_TEST_ASSUME_DIFFERENT_OWNER") != "" {
		return false
	}
	paths := []string{r.GitDir, r.CommonDir}
	if r.Top != "" {
		paths = append(paths, r.Top, filepath.Join(r.Top, ".git")) // a link is whose it is
	}
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err == nil && info.Mode()&fs.ModeSymlink != 0 && ours(path, info) {
			info, err = os.Stat(path)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist) && filepath.Base(path) == ".git": // GIT_DIR is set
		case err != nil || !ours(path, info):
			return false
		}
	}
	return true
}

const maxPointer = 64 << 10 // bytes of a file that holds a path

// readPlain reads a small regular file. Opening an untrusted pipe would hang.
func readPlain(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxPointer) {
		err = &fs.PathError{Op: "read", Path: path, Err: errors.New("not a small file")}
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(f)
}
