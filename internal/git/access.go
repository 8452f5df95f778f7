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

// OwnerOnly is what [Repo.KeepPrivate] sets it to.
const OwnerOnly = "0600"

// Shared is core.sharedRepository, "" if it is not set: who may read and write the repository.
func (c Config) Shared() string { return c.Get(sharedRepository) }

// share gives a read-only file that we have written the permissions that git would give it.
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

// sharedMode is the mode of a read-only file under a setting of core.sharedRepository. A mode in octal
// is meant as it is; what is shared with a group, or with all, adds to what the umask has left.
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

// KeepPrivate keeps all other users of the machine out of the repository: git gives new files no
// permissions for them (core.sharedRepository=0600), and what is there can't be reached any more.
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
