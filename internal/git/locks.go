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

	"gitagent/internal/statedir"
)

// deadAfter is how long git may hold a lock on our files: git, even gc, needs
// milliseconds. It bounds the wait to less than a second.
const deadAfter = 900 * time.Millisecond

// AwaitLocks waits until no ref is locked, and reports whether any was. A lock
// that stays for a second was left by a killed git and is removed. So the refs
// must be git-agent's, and the caller must hold a lock against our other
// processes.
func (r *Repo) AwaitLocks(ctx context.Context, refs ...string) (found bool, err error) {
	for _, ref := range refs {
		there, err := DropDeadLock(ctx, r.fileOf(ref))
		if found = found || there; err != nil {
			return found, err
		}
	}
	return found, nil
}

// DropDeadLock waits until a file is unlocked, and reports whether it was
// locked. It removes a lock that is a second old or does not change for a
// second, with what git was writing under it.
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
	if filepath.Base(path) == "packed-refs" { // while this is there, git neither packs nor deletes refs
		if err := os.Remove(path + ".new"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return true, err
		}
	}
	return true, os.Remove(path + ".lock")
}

// DropLeftLocks removes locks that a dead git left beside the files of a note,
// which was made just before. Unless the note is long, git had a second for
// each (see [Repo.BeginRefs]): an earlier or later lock, or one that goes away,
// is another process's. A name with a final slash stands for all files below
// it, but for a long note only since then. One of [Repo.TableLists] includes
// the tables.
func DropLeftLocks(ctx context.Context, note statedir.Note) error {
	const tick = 20 * time.Millisecond // how far a file's time may lag
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

// DropLeft removes the locks noted by a dead holder of held, and the note.
func DropLeft(ctx context.Context, held *statedir.Lock) error {
	left := held.Left()
	if left.Words == nil {
		return nil
	}
	if err := DropLeftLocks(ctx, left); err != nil {
		return fmt.Errorf("remove the locks of a git that was killed: %w", err)
	}
	return held.Done()
}

// Locking runs a git that locks files, and notes them in held. If git is
// killed, its locks are removed: here or, if this process is killed too, by the
// next holder (see [DropLeft]).
func (r *Repo) Locking(ctx context.Context, held *statedir.Lock, note statedir.Note, do func(r *Repo) error) error {
	note.At = time.Now()
	return held.With(note, func() error {
		err := do(r.With(Holding(held.File())))
		r.handOver(note.Words)
		if err != nil && Status(err) < 0 && !errors.Is(err, ErrConflict) { // git was killed, this process was not
			err = errors.Join(err, DropLeftLocks(context.WithoutCancel(ctx), note))
		}
		return err
	})
}

// MoveRefs commits proc, which holds held's file, after noting in held what git
// will lock. The error wraps [ErrConflict] if a ref has moved, or if a killed
// git's lock, now removed, was in the way.
func MoveRefs(ctx context.Context, r *Repo, held *statedir.Lock, proc *RefTransaction, updates []Update) error {
	err := r.Locking(ctx, held, statedir.Note{Words: r.LockedBy(updates)}, func(*Repo) error { return proc.Commit(ctx, updates) })
	if err == nil || errors.Is(err, ErrConflict) {
		return err
	}
	var own []string // git-agent's refs, which nothing else locks for long; a branch is the user's
	for _, u := range updates {
		if !strings.HasPrefix(u.Ref, "refs/heads/") {
			own = append(own, u.Ref)
		}
	}
	switch locked, e := r.AwaitLocks(ctx, own...); {
	case e != nil:
		return errors.Join(err, e)
	case locked:
		return fmt.Errorf("git-agent's refs were locked: %w", ErrConflict)
	}
	return err
}

func tablesIn(dir string) (files []string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if file, ok := strings.CutSuffix(e.Name(), ".lock"); ok {
			files = append(files, filepath.Join(dir, file))
		}
	}
	return files
}

// A LockedError reports that a git command found a file locked. The lock may be
// in use or left by a killed git; nothing tells which, so only the user may
// remove it.
type LockedError struct {
	Path string        // of the lock file
	Age  time.Duration // since it was made
	Err  error         // git's error
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("%v (%s is there, %s old)", e.Err, e.Path, e.Age.Round(time.Second))
}

func (e *LockedError) Unwrap() error { return e.Err }

// Locked wraps err in a [*LockedError] if one of the files that git had to lock
// is locked now: full refs, "packed-refs", "HEAD" or "index".
func (r *Repo) Locked(err error, names ...string) error {
	if err == nil {
		return nil
	}
	var files []string
	for _, name := range names {
		dir := r.RefsDir()
		switch name {
		case "HEAD":
			dir = r.ownRefsDir()
		case "index":
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
