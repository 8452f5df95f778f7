package git

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
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
