package snapshot

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"gitagent/internal/git"
)

// A privateIndex is the index file of snapshots of one worktree.
type privateIndex struct {
	repo  *git.Repo // the repository as it is
	dir   string    // $GIT_DIR/agent
	path  string
	users string // the user's own index
}

func openIndex(repo *git.Repo) (*privateIndex, error) {
	dir := filepath.Join(repo.GitDir, "agent")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("make the private index: %w", err)
	}
	return &privateIndex{repo: repo, dir: dir, path: filepath.Join(dir, "index"), users: filepath.Join(repo.GitDir, "index")}, nil
}

// git is the repository with the private index in the place of the user's.
// Optional locks are on for it, whatever the user's environment says: without them
// git would not write the untracked cache.
func (x *privateIndex) git() *git.Repo {
	return x.repo.With("GIT_INDEX_FILE="+x.path, "GIT_OPTIONAL_LOCKS=1")
}

// An origin says what the private index was copied from.
// When one of these differs, the copy is made anew.
type origin struct {
	Index    fileID `json:"index"`
	Sparse   fileID `json:"sparse"`
	Worktree fileID `json:"worktree"` // config.worktree, where sparse-checkout is switched on
}

// A fileID tells one state of a file from another without reading it.
type fileID struct {
	Inode uint64 `json:"inode"`
	Size  int64  `json:"size"`  // bytes
	Mtime int64  `json:"mtime"` // nanoseconds since 1970
}

func (x *privateIndex) origin() origin {
	return origin{
		Index:    idOf(x.users),
		Sparse:   idOf(filepath.Join(x.repo.GitDir, "info", "sparse-checkout")),
		Worktree: idOf(filepath.Join(x.repo.GitDir, "config.worktree")),
	}
}

// idOf returns the zero fileID for a file that is not there.
func idOf(path string) fileID {
	info, err := os.Stat(path)
	if err != nil {
		return fileID{}
	}
	return fileID{Inode: inode(info), Size: info.Size(), Mtime: info.ModTime().UnixNano()}
}

func (x *privateIndex) originPath() string { return filepath.Join(x.dir, "index.origin") }

// prepare brings the private index up to date with the user's, if that has changed
// since the copy was made or if anew is set.
func (x *privateIndex) prepare(now time.Time, anew bool) error {
	git.DropStaleLock(now, x.path)
	x.recover()
	want := x.origin()
	if have, err := x.knownOrigin(); err == nil && !anew && have == want && exists(x.path) {
		return nil
	}
	if err := copyIndex(x.users, x.path); err != nil {
		return fmt.Errorf("make the private index: %w", err)
	}
	return x.remember(want)
}

// knownOrigin reads what remember wrote.
func (x *privateIndex) knownOrigin() (origin, error) {
	var from origin
	b, err := os.ReadFile(x.originPath())
	if err == nil {
		err = json.Unmarshal(b, &from)
	}
	return from, err
}

// remember notes what the private index was made from.
func (x *privateIndex) remember(from origin) error {
	b, err := json.Marshal(from)
	if err != nil {
		return err
	}
	if err := os.WriteFile(x.originPath(), b, 0o666); err != nil {
		return fmt.Errorf("make the private index: %w", err)
	}
	return nil
}

// copyIndex copies an index with its modification time; where there is no index,
// there will be no copy either.
func copyIndex(from, to string) error {
	f, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, f); err != nil {
		_ = out.Close()
		return err
	}
	if err := out.Close(); err != nil {
		return err
	}
	return os.Chtimes(to, time.Time{}, info.ModTime())
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
