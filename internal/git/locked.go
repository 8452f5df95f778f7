package git

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// A LockedError reports that a git command failed while a file that it needs was locked. The lock
// may be in use or left by a git that was killed. Nothing tells which, so removing it is up to the
// user.
type LockedError struct {
	Path string        // of the lock file
	Age  time.Duration // since it was made
	Err  error         // git's error
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("%v (%s is there, %s old)", e.Err, e.Path, e.Age.Round(time.Second))
}

func (e *LockedError) Unwrap() error { return e.Err }

// Locked explains the failure of a git command that locks the named files: full names of refs,
// "packed-refs", "HEAD" or "index". If one of them is locked now, it returns a [*LockedError] that
// wraps err, otherwise err itself.
func (r *Repo) Locked(err error, names ...string) error {
	if err == nil {
		return nil
	}
	for _, name := range names {
		dir := r.CommonDir
		if name == "HEAD" || name == "index" {
			dir = r.GitDir
		}
		path := filepath.Join(dir, filepath.FromSlash(name)+".lock")
		if info, statErr := os.Lstat(path); statErr == nil {
			return &LockedError{Path: path, Age: max(time.Since(info.ModTime()), 0), Err: err}
		}
	}
	return err
}
