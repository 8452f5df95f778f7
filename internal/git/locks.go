package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gitagent/internal/lock"
)

// deadAfter is how long git may hold a lock on what is ours. It takes milliseconds, and so does
// git's own gc, which locks every ref that it packs. It is less than a second, so that nobody who
// waits for it is held up for longer than that.
const deadAfter = 900 * time.Millisecond

// AwaitLocks waits until none of the refs is locked. A lock still there after a second was left by
// a git that was killed, and is removed. So all refs must be git-agent's own, and the caller must
// hold a lock that keeps our other processes away. It reports whether there was any lock.
func (r *Repo) AwaitLocks(ctx context.Context, refs ...string) (found bool, err error) {
	for _, ref := range refs {
		there, err := DropDeadLock(ctx, filepath.Join(r.CommonDir, filepath.FromSlash(ref)))
		if found = found || there; err != nil {
			return found, err
		}
	}
	return found, nil
}

// DropDeadLock waits until a file is unlocked, and removes a lock that is more than a second old or
// does not change for a second, with what git was writing under it. It reports whether there was a lock.
func DropDeadLock(ctx context.Context, path string) (bool, error) {
	first, err := os.Lstat(path + ".lock")
	if err != nil {
		return false, nil
	}
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for waited := time.Duration(0); waited < deadAfter && time.Since(first.ModTime()) < deadAfter; waited += 20 * time.Millisecond {
		select {
		case <-poll.C:
		case <-ctx.Done():
			return true, ctx.Err()
		}
		now, err := os.Lstat(path + ".lock")
		if err != nil {
			return true, nil
		}
		if !os.SameFile(first, now) {
			first, waited = now, 0
		}
	}
	if filepath.Base(path) == "packed-refs" { // while this is there, git packs and deletes no ref
		if err := os.Remove(path + ".new"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return true, err
		}
	}
	return true, os.Remove(path + ".lock")
}

// DropLeftLocks removes the lock files left beside the files of a note by a dead git that was about to
// lock them when it was made. That git had a second for each, see [Repo.BeginRefs], unless the note says
// that it takes long; a lock made before or after that is another process's, and so is one that goes away
// by itself. A name that ends in a slash stands for everything in that directory, whenever it was made,
// but not before a long note. One of [Repo.TableLists] stands for the tables beside it, too.
func DropLeftLocks(ctx context.Context, note lock.Note) error {
	const tick = 20 * time.Millisecond // how far the time of a file may lag
	since := note.At.Add(-tick)
	for _, file := range note.Words {
		if strings.HasSuffix(file, "/") {
			err := filepath.WalkDir(file, func(path string, d fs.DirEntry, err error) error {
				file, ok := strings.CutSuffix(path, ".lock")
				if !ok || err != nil {
					return err
				}
				if info, err := d.Info(); note.Long && (err != nil || info.ModTime().Before(since)) {
					return nil
				}
				_, err = DropDeadLock(ctx, file)
				return err
			})
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			continue
		}
		files := []string{file}
		if dir, name := filepath.Split(file); name == tableList {
			files = tablesIn(dir)
		}
		for _, file := range files {
			info, err := os.Lstat(file + ".lock")
			if err != nil || info.ModTime().Before(since) || !note.Long && info.ModTime().After(note.At.Add(2*deadAfter)) {
				continue
			}
			if _, err := DropDeadLock(ctx, file); err != nil && !os.IsNotExist(err) {
				return err
			}
		}
	}
	return nil
}

// DropLeft removes the locks that the git of a dead holder left where it had
// noted, and the note.
func DropLeft(ctx context.Context, held *lock.Lock) error {
	left := held.Left()
	if left.Words == nil {
		return nil
	}
	if err := DropLeftLocks(ctx, left); err != nil {
		return fmt.Errorf("remove the locks of a git that was killed: %w", err)
	}
	return held.Done()
}

// Locking runs a git that locks files, with held, which notes them. If that git
// is killed its locks are removed, here or, if this process is killed as well,
// by the next holder, see [DropLeft].
func (r *Repo) Locking(ctx context.Context, held *lock.Lock, note lock.Note, do func(r *Repo) error) error {
	note.At = time.Now()
	return held.With(note, func() error {
		err := do(r.Holding(held.File()))
		if err != nil && Status(err) < 0 && !errors.Is(err, ErrConflict) { // git was killed, but not this process
			err = errors.Join(err, DropLeftLocks(context.WithoutCancel(ctx), note))
		}
		return err
	})
}

// tablesIn returns the files of a stack of tables that are locked, without .lock: the list of them, and tables.
func tablesIn(dir string) (files []string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if file, ok := strings.CutSuffix(e.Name(), ".lock"); ok {
			files = append(files, filepath.Join(dir, file))
		}
	}
	return files
}

// A LockedError reports that a git command failed while a file that it needs was locked. It may be
// in use or left by a killed git. Nothing tells which: only the user may remove it.
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
// "packed-refs", "HEAD" or "index". If one of them is locked now, a [*LockedError] wraps err.
func (r *Repo) Locked(err error, names ...string) error {
	if err == nil {
		return nil
	}
	var files []string
	for _, name := range names {
		dir := r.CommonDir
		if name == "HEAD" || name == "index" {
			dir = r.GitDir
		}
		files = append(files, filepath.Join(dir, filepath.FromSlash(name)))
	}
	if slices.ContainsFunc(names, func(name string) bool { return name != "index" }) {
		files = append(files, r.TableLists()...)
	}
	for _, file := range files {
		if info, statErr := os.Lstat(file + ".lock"); statErr == nil {
			return &LockedError{Path: file + ".lock", Age: max(time.Since(info.ModTime()), 0), Err: err}
		}
	}
	return err
}
