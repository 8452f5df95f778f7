package gitdiff

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/statedir"
)

// An Uncommitted is a commit with a worktree's file, until Close.
type Uncommitted struct {
	Repo   *git.Repo // has the commit
	Commit object.Hash
	Made   bool // false if the file is as in HEAD, and Commit is HEAD

	dir *statedir.Temporary
}

// Close removes what was made.
func (u *Uncommitted) Close() { u.dir.Close() }

// NewUncommitted returns a commit on HEAD, and on what is being merged, with
// the worktree's file at path, from the top, as git would store it. If there is
// none, the error wraps [fs.ErrNotExist].
func NewUncommitted(ctx context.Context, r *git.Repo, path string) (u *Uncommitted, err error) {
	if info, err := os.Lstat(filepath.Join(r.Top, filepath.FromSlash(path))); err != nil {
		return nil, err
	} else if info.IsDir() {
		return nil, fmt.Errorf("%q is a directory: %w", path, fs.ErrNotExist)
	}
	at, err := statedir.NewTemporary()
	if err != nil {
		return nil, err
	}
	u = &Uncommitted{Repo: r, dir: at}
	defer func() {
		if err != nil {
			at.Close()
		}
	}()
	dir := at.Path
	head, err := r.Head(ctx)
	if err != nil {
		return nil, err
	}
	scratch := r.With(scratch(filepath.Join(r.CommonDir, "objects"), dir))
	index := scratch.With(git.Env("GIT_INDEX_FILE="+filepath.Join(dir, "index"), "GIT_LITERAL_PATHSPECS=1"))
	tree, err := withFile(ctx, index, path, func() error { return copyIndex(r, filepath.Join(dir, "index")) })
	if err != nil { // the user's index may have conflicts
		tree, err = withFile(ctx, index, path, func() error {
			_ = os.Remove(filepath.Join(dir, "index"))
			if head.Commit.IsZero() {
				return nil
			}
			_, err := index.Output(ctx, nil, "read-tree", head.Commit.String())
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	if !head.Commit.IsZero() {
		_, err := index.Output(ctx, nil, "diff-tree", "--quiet", "-r", head.Commit.String(), tree, "--", path)
		if err == nil {
			u.Commit = head.Commit
			return u, nil
		}
		if git.Status(err) != 1 {
			return nil, err
		}
	}
	args := []string{"commit-tree", tree, "-m", "not committed yet"}
	parents, err := git.HashesIn(filepath.Join(r.GitDir, "MERGE_HEAD"))
	if err != nil {
		return nil, err
	}
	if !head.Commit.IsZero() {
		parents = append([]object.Hash{head.Commit}, parents...)
	}
	for _, p := range parents {
		args = append(args, "-p", p.String())
	}
	now := fmt.Sprintf("%d +0000", time.Now().Unix())
	out, err := scratch.With(git.Env(
		"GIT_AUTHOR_NAME=Not Committed Yet", "GIT_AUTHOR_EMAIL=not.committed.yet", "GIT_AUTHOR_DATE="+now,
		"GIT_COMMITTER_NAME=Not Committed Yet", "GIT_COMMITTER_EMAIL=not.committed.yet", "GIT_COMMITTER_DATE="+now,
	)).Output(ctx, nil, args...)
	if err != nil {
		return nil, err
	}
	commit, err := object.ParseHash(strings.TrimSpace(string(out)))
	u.Repo, u.Commit, u.Made = scratch, commit, true
	return u, err
}

// scratch lets git write objects to dir, and read those of the repository.
func scratch(objects, dir string) git.Option {
	more := os.Getenv("GIT_ALTERNATE_OBJECT_DIRECTORIES")
	if more != "" {
		more = string(os.PathListSeparator) + more
	}
	return git.Env("GIT_OBJECT_DIRECTORY="+dir, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+quoteList(objects)+more)
}

func quoteList(path string) string {
	if !strings.ContainsAny(path, "\""+string(os.PathListSeparator)) {
		return path
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + `"`
}

// copyIndex keeps the index's time: git rechecks files changed since then.
func copyIndex(r *git.Repo, to string) error {
	from := filepath.Join(r.GitDir, "index")
	info, err := os.Stat(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, data, 0o600)
	}
	if err == nil {
		err = os.Chtimes(to, time.Time{}, info.ModTime())
	}
	return err
}

// withFile returns a tree of the prepared index with a worktree's file. A new
// file may have moved here, so deleted ones are removed.
func withFile(ctx context.Context, r *git.Repo, path string, prepare func() error) (tree string, err error) {
	if err := prepare(); err != nil {
		return "", err
	}
	run := func(in string, args ...string) (out []byte, err error) {
		return r.Output(ctx, strings.NewReader(in), args...)
	}
	paths := path + "\x00"
	tracked, err := run("", "ls-files", "-z", "-v", "--", path)
	if err != nil {
		return "", err
	}
	for _, flag := range notLookedAt(tracked) {
		if _, err := run("", "update-index", flag, "--", path); err != nil {
			return "", err
		}
	}
	if len(tracked) == 0 {
		gone, err := run("", "diff-files", "-z", "--name-only", "--diff-filter=D")
		if err != nil {
			return "", err
		}
		paths = string(gone) + paths // it may be where one of them was
	}
	if _, err := run(paths, "update-index", "-z", "--add", "--remove", "--replace", "--stdin"); err != nil {
		return "", err
	}
	out, err := run("", "write-tree")
	return strings.TrimSpace(string(out)), err
}

// notLookedAt returns flags to look at a file again, by its tag in `ls-files
// -v`: small if assumed unchanged, S or s outside a sparse checkout.
func notLookedAt(listed []byte) (flags []string) {
	if len(listed) == 0 {
		return nil
	}
	if tag := listed[0]; 'a' <= tag && tag <= 'z' {
		flags = append(flags, "--no-assume-unchanged")
	}
	if listed[0]|0x20 == 's' {
		flags = append(flags, "--no-skip-worktree")
	}
	return flags
}
