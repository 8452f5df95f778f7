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
	"syscall"
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

// Give lets those read a file of the object database, which this process has
// made or git for it, that read git's own: see [Repo.share] and handOver.
func (r *Repo) Give(ctx context.Context, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return r.give(ctx, f)
}

func (r *Repo) give(ctx context.Context, f *os.File) error {
	return errors.Join(r.share(ctx, f), r.giveFile(f))
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

// A DeniedError names a file or directory of the repository that this process
// can't read, or can't write to.
type DeniedError struct {
	Path string
	Own  bool // it belongs to the user of this process
	Err  error
}

func (e *DeniedError) Error() string {
	whose := ""
	if !e.Own {
		whose = " (it belongs to another user)"
	}
	return e.Err.Error() + whose
}

func (e *DeniedError) Unwrap() error { return e.Err }

// Access returns nil if this process can read and write what a turn reads and
// writes, as far as it is there, or a [*DeniedError]. In directories it makes a
// file for a moment, with a name that git takes for a lock.
func (r *Repo) Access() error {
	paths := []string{r.CommonDir, r.GitDir, filepath.Join(r.GitDir, "agent"), filepath.Join(r.GitDir, "HEAD")}
	for _, pattern := range []string{
		"config", "packed-refs", "objects", "objects/pack", "reftable",
		"refs", "refs/agent", "refs/agent/missions", "refs/notes", "refs/notes/agent",
		"agent", "agent/sessions", "agent/locks", "agent/locks/*", "agent/trust", "agent/trust/*",
	} {
		paths = append(paths, r.Glob(pattern)...)
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			continue // it is made when it is needed
		}
		ours := ours(path, info)
		switch rel, _ := filepath.Rel(r.CommonDir, path); {
		case info.IsDir():
			err = writeIn(path)
		case !info.Mode().IsRegular(): // what is in the place of a file of ours has an error of its own
		case strings.HasPrefix(filepath.ToSlash(rel), "agent/"):
			err = openAs(path, os.O_RDWR)
		default: // git replaces it
			err = openAs(path, os.O_RDONLY)
		}
		if err != nil {
			return &DeniedError{path, ours, err}
		}
	}
	return nil
}

func openAs(path string, flag int) error {
	f, err := os.OpenFile(path, flag|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

func writeIn(dir string) error {
	f, err := os.CreateTemp(dir, "probe-*.lock")
	if err != nil {
		return &fs.PathError{Op: "write", Path: dir, Err: errors.Unwrap(err)}
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
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
		path = filepath.Clean(path)
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			return fmt.Errorf("objects are borrowed from %s, which is not there: bring it back, or change %s", path, list)
		}
	}
	return nil
}

// KeepPrivate keeps other users of the machine out of the repository, for new
// files (core.sharedRepository) and existing ones.
func (r *Repo) KeepPrivate(ctx context.Context) error {
	if err := r.Configure(ctx, "core.sharedRepository", OwnerOnly); err != nil {
		return err
	}
	for _, dir := range []string{r.CommonDir, filepath.Join(r.CommonDir, "objects"), filepath.Join(r.CommonDir, "objects", "pack")} {
		if err := os.Chmod(dir, 0o700); err != nil {
			return fmt.Errorf("keep others out: %w", err)
		}
	}
	return nil
}
