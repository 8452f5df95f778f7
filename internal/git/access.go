package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const sharedRepository = "core.sharedrepository"

// OwnerOnly is the core.sharedRepository that [Repo.KeepPrivate] sets.
const OwnerOnly = "0600"

// Shared returns core.sharedRepository, or "" if it is not set.
func (c Config) Shared() string { return c.Get(sharedRepository) }

// share gives a read-only file that we wrote the mode that git would give it.
func (r *Repo) share(ctx context.Context, f *os.File) error {
	if r.sharing.Load() == nil {
		if _, err := r.Config(ctx); err != nil {
			return err
		}
	}
	setting := *r.sharing.Load()
	if setting == "" {
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	before := info.Mode().Perm()
	if mode := sharedMode(before, setting); mode != before {
		return f.Chmod(mode)
	}
	return nil
}

// sharedMode applies core.sharedRepository to the mode of a read-only file. An
// octal setting replaces the mode; group and all add to the umask's.
func sharedMode(mode fs.FileMode, setting string) fs.FileMode {
	number, err := strconv.ParseUint(setting, 8, 32)
	switch {
	case setting == "group", err == nil && number == 1, err != nil && Config{"x": {setting}}.Bool("x"):
		return mode | 0o440
	case setting == "all", setting == "world", setting == "everybody", err == nil && number == 2:
		return mode | 0o444
	case err == nil && number != 0:
		return fs.FileMode(number) & 0o444
	}
	return mode // umask, false
}

// An UnwritableError names a file or directory that turns are written to, and
// that this process can't write to.
type UnwritableError struct {
	Path string
	Own  bool // it belongs to the user of this process
	Err  error
}

func (e *UnwritableError) Error() string {
	whose := ""
	if !e.Own {
		whose = "belongs to another user, and "
	}
	return fmt.Sprintf("%s %scan't be written to: %v", e.Path, whose, errors.Unwrap(e.Err))
}

func (e *UnwritableError) Unwrap() error { return e.Err }

// Unwritable returns the first of what turns are written to, and is there, that
// can't be written to, or nil. In directories it makes a file for a moment,
// with a name that git takes for a lock.
func (r *Repo) Unwritable() *UnwritableError {
	paths := []string{r.CommonDir, r.GitDir}
	for _, pattern := range []string{
		"objects", "objects/pack", "refs", "refs/agent", "refs/agent/missions", "refs/notes", "refs/notes/agent", "reftable",
		"agent", "agent/*", "agent/locks/*",
	} {
		paths = append(paths, r.Glob(pattern)...)
	}
	for _, path := range append(paths, filepath.Join(r.GitDir, "agent")) {
		info, err := os.Stat(path)
		if err != nil {
			continue // git or we make it
		}
		if err = write(path, info.IsDir()); err != nil {
			return &UnwritableError{path, ours(path, info), err}
		}
	}
	return nil
}

func write(path string, isDir bool) error {
	var f *os.File
	var err error
	if isDir {
		if f, err = os.CreateTemp(path, "probe-*.lock"); err == nil {
			defer os.Remove(f.Name())
		}
	} else {
		f, err = os.OpenFile(path, os.O_WRONLY, 0)
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// Alternates returns an error about the first object directory that the
// repository borrows objects from and that is not there, or nil.
func (r *Repo) Alternates() error {
	dir := filepath.Join(r.CommonDir, "objects")
	list := filepath.Join(dir, "info", "alternates")
	data, _ := readPlain(list)
	for line := range strings.Lines(string(data)) {
		path := strings.TrimRight(line, "\n")
		if path == "" || path[0] == '#' || path[0] == '"' {
			continue
		}
		if path = filepath.FromSlash(path); !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			return fmt.Errorf("objects are borrowed from %s, which is not there: bring it back, or change %s", path, list)
		}
	}
	return nil
}

// KeepPrivate keeps other users of the machine out of the repository, for new
// files (core.sharedRepository) and existing ones.
func (r *Repo) KeepPrivate(ctx context.Context) error {
	if _, err := r.Output(ctx, nil, "config", "core.sharedRepository", OwnerOnly); err != nil {
		return err
	}
	for _, dir := range []string{r.CommonDir, filepath.Join(r.CommonDir, "objects"), filepath.Join(r.CommonDir, "objects", "pack")} {
		if err := os.Chmod(dir, 0o700); err != nil {
			return fmt.Errorf("keep others out: %w", err)
		}
	}
	return nil
}
