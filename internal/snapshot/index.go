package snapshot

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/statedir"
)

// A privateIndex is the index for one worktree's snapshots.
type privateIndex struct {
	repo  *git.Repo     // with the user's index
	dir   *statedir.Dir // $GIT_DIR/agent
	path  string
	users string  // the user's own index
	from  *origin // what the index was copied from, nil if unknown
}

func openIndex(repo *git.Repo) (*privateIndex, error) {
	dir := statedir.Of(repo.GitDir)
	if err := dir.Make(); err != nil {
		return nil, fmt.Errorf("make the private index: %w", err)
	}
	return &privateIndex{repo: repo, dir: dir, path: dir.Path(indexFile), users: filepath.Join(repo.GitDir, "index")}, nil
}

// git runs git on the index at path. Without optional locks it would not write
// the untracked cache.
func (x *privateIndex) git(ctx context.Context, path, stdin string, args ...string) (string, error) {
	p, err := x.start(ctx, path, args...)
	if err != nil {
		return "", err
	}
	out, err := p.Finish([]byte(stdin))
	return string(out), err
}

// start is git without the wait.
func (x *privateIndex) start(ctx context.Context, path string, args ...string) (*git.Process, error) {
	return x.repo.With(git.Env("GIT_INDEX_FILE="+path, "GIT_OPTIONAL_LOCKS=1")).Start(ctx, args...)
}

// An origin is the state of files that the private index depends on.
type origin struct {
	Index    fileID `json:"index"`
	Sparse   fileID `json:"sparse"`
	Worktree fileID `json:"worktree"` // config.worktree, which can switch sparse checkouts on

	// Cached says that the user's index has an untracked cache.
	Cached bool `json:"cached,omitempty"`
	// Ahead says that the private index may hold entries that the user's lacks.
	// Git does not know it, so `git gc --prune=now` may have removed their
	// objects.
	Ahead bool `json:"ahead,omitempty"`
	// Added lists the paths, each with a NUL, that only the private index has:
	// to the user, and so to [Policy], they are untracked.
	Added []byte `json:"added,omitempty"`
}

// A fileID identifies one state of a file without reading it.
type fileID struct {
	Inode uint64 `json:"inode"`
	Size  int64  `json:"size"`  // in bytes
	Mtime int64  `json:"mtime"` // in nanoseconds since 1970
}

func (x *privateIndex) now() origin {
	return origin{
		Index:    idOf(x.users),
		Sparse:   idOf(filepath.Join(x.repo.GitDir, "info", "sparse-checkout")),
		Worktree: idOf(filepath.Join(x.repo.GitDir, "config.worktree")),
	}
}

// file returns where path is in the worktree.
func (x *privateIndex) file(path string) string {
	return filepath.Join(x.repo.Top, filepath.FromSlash(path))
}

// current reports whether the private index's origin is unchanged.
func (x *privateIndex) current() bool {
	now := x.now()
	return x.from != nil && now.Index == x.from.Index && now.Sparse == x.from.Sparse && now.Worktree == x.from.Worktree
}

// idOf returns the id of a file, or a zero one.
func idOf(path string) fileID {
	info, err := os.Stat(path)
	if err != nil {
		return fileID{}
	}
	return fileID{Inode: inode(info), Size: info.Size(), Mtime: info.ModTime().UnixNano()}
}

const (
	indexFile  = "index"
	newFile    = "index.new" // to become the user's index
	originFile = "index.origin"
)

// prepare copies the user's index if it has changed.
func (x *privateIndex) prepare(ctx context.Context) error {
	for _, path := range []string{x.path, x.newPath()} { // a killed git's locks
		if _, err := git.DropDeadLock(ctx, path); err != nil {
			return fmt.Errorf("make the private index: %w", err)
		}
	}
	x.recover()
	if b, err := x.dir.ReadFile(originFile); err == nil {
		if err := json.Unmarshal(b, &x.from); err == nil && x.current() && plain(x.path) {
			return nil
		}
	}
	return x.copy(ctx)
}

// copy copies the user's index with its modification time. If there is none, it
// takes HEAD's tree, so files tracked there stay tracked.
func (x *privateIndex) copy(ctx context.Context) error {
	from := x.now()
	if err := x.forget(); err != nil {
		return err
	}
	content, err := x.copyIndex(x.users, indexFile)
	if errors.Is(err, fs.ErrNotExist) {
		return x.readHead(ctx)
	}
	if err != nil {
		return fmt.Errorf("make the private index: %w", err)
	}
	from.Cached = bytes.Contains(content, []byte(untrackedCache))
	return x.remember(from)
}

// readHead makes the private index from HEAD's tree because the user's can't be
// read. The next snapshot tries the user's again.
func (x *privateIndex) readHead(ctx context.Context) error {
	if err := x.forget(); err != nil {
		return err
	}
	if _, err := x.repo.Resolve(ctx, "HEAD"); errors.Is(err, git.ErrNotFound) {
		return nil // unborn: the empty index
	}
	config, err := x.repo.Config(ctx)
	if err == nil && config.Bool("core.sparsecheckout") {
		err = errors.New("without the user's index a sparse checkout looks like a worktree with files deleted")
	}
	if err == nil {
		if _, err = x.git(ctx, x.path, "", "read-tree", "HEAD"); err != nil {
			err = cmp.Or(x.repo.Broken(ctx, "HEAD"), err)
		}
	}
	return err
}

// forget removes the private index and, as we hold our lock, a killed git's.
func (x *privateIndex) forget() error {
	x.from = nil
	for _, name := range []string{originFile, indexFile, indexFile + ".lock"} {
		if err := x.dir.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("make the private index: %w", err)
		}
	}
	return nil
}

func (x *privateIndex) remember(from origin) error {
	b, err := json.Marshal(from)
	if err == nil {
		err = x.dir.WriteFile(originFile, b)
	}
	if err != nil {
		return fmt.Errorf("make the private index: %w", err)
	}
	x.from = &from
	return nil
}

// untrackedCache is an index extension. A file's name may contain it
// harmlessly.
const untrackedCache = "UNTR"

func (x *privateIndex) cached() bool { return x.from != nil && x.from.Cached }

func (x *privateIndex) ahead() bool { return x.from == nil || x.from.Ahead }

// goAhead notes that the private index will get ahead, by paths as in origin.
func (x *privateIndex) goAhead(added string) error {
	if x.from == nil || x.from.Ahead && added == "" {
		return nil
	}
	from := *x.from
	from.Ahead = true
	from.Added = append(slices.Clip(from.Added), added...)
	return x.remember(from)
}

func (x *privateIndex) added() map[string]bool {
	paths := make(map[string]bool)
	if x.from != nil {
		for p := range strings.SplitSeq(string(x.from.Added), "\x00") {
			paths[p] = true
		}
	}
	return paths
}

// copyIndex copies an index to a file beside the private one, with permissions
// and modification time, and returns its content.
func (x *privateIndex) copyIndex(from, to string) ([]byte, error) {
	info, err := os.Stat(from)
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(from)
	if err != nil {
		return nil, err
	}
	f, err := x.dir.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return nil, err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Chmod(info.Mode().Perm())
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	return content, os.Chtimes(x.dir.Path(to), time.Time{}, info.ModTime())
}

// plain reports whether path is a file. Git would write through a link.
func plain(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
