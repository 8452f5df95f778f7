package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gitagent/internal/statedir"
	"gitagent/test/gittest"
)

// aged makes a lock file of the given age beside a file, and returns the file.
func aged(t *testing.T, dir, name string, age time.Duration) string {
	t.Helper()
	file := filepath.Join(dir, name)
	gittest.Must(t, os.WriteFile(file+".lock", nil, 0o600))
	at := time.Now().Add(-age)
	gittest.Must(t, os.Chtimes(file+".lock", at, at))
	return file
}

func locked(file string) bool {
	_, err := os.Lstat(file + ".lock")
	return err == nil
}

// A lock that does not go away within a second is dead, whatever its file time.
func TestDropDeadLock(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, age := range map[string]time.Duration{"fresh": 0, "old": time.Hour, "of tomorrow": -24 * time.Hour} {
		file := aged(t, dir, name, age)
		if found, err := DropDeadLock(t.Context(), file); !found || err != nil || locked(file) {
			t.Errorf("%s: DropDeadLock = %t, %v; it is locked: %t", name, found, err, locked(file))
		}
		if found, err := DropDeadLock(t.Context(), file); found || err != nil {
			t.Errorf("%s: DropDeadLock without a lock = %t, %v", name, found, err)
		}
	}
	file := aged(t, dir, "x", 0)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := DropDeadLock(ctx, file); !errors.Is(err, context.Canceled) || !locked(file) {
		t.Errorf("called off: %v; it is locked: %t", err, locked(file))
	}
}

// TestDropLeftLocks: what a killed git was about to lock gets unlocked; what others locked before
// or since does not.
func TestDropLeftLocks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	left := aged(t, dir, "left", 59*time.Minute)
	before := aged(t, dir, "before", 61*time.Minute)
	since := aged(t, dir, "since", 50*time.Minute)
	now := aged(t, dir, "now", 0)
	unnoted := aged(t, dir, "unnoted", 59*time.Minute)
	at := time.Now().Add(-59*time.Minute - time.Second)
	note := statedir.Note{At: at, Words: []string{left, before, since, now, filepath.Join(dir, "none")}}
	gittest.Must(t, DropLeftLocks(t.Context(), note))
	for file, want := range map[string]bool{left: false, before: true, since: true, now: true, unnoted: true} {
		if locked(file) != want {
			t.Errorf("%s: locked is %t, want %t", filepath.Base(file), !want, want)
		}
	}
}

// TestDropLeftLocksOfLong: a git that took long can have made its locks at any time since the note, but not before.
func TestDropLeftLocksOfLong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	before, left := aged(t, dir, "before", 61*time.Minute), aged(t, dir, "left", 30*time.Minute)
	refs := filepath.Join(dir, "refs")
	gittest.Must(t, os.Mkdir(refs, 0o700))
	beforeThere, leftThere := aged(t, refs, "before", 61*time.Minute), aged(t, refs, "left", 30*time.Minute)
	at := time.Now().Add(-time.Hour)
	gittest.Must(t, DropLeftLocks(t.Context(), statedir.Note{At: at, Words: []string{before, left, refs + "/"}, Long: true}))
	for file, want := range map[string]bool{before: true, left: false, beforeThere: true, leftThere: false} {
		if locked(file) != want {
			t.Errorf("%s: locked is %t, want %t", file, !want, want)
		}
	}
}

// TestDropDeadLockOfPackedRefs: what a killed git was writing goes with its lock, or no ref could be deleted any more.
func TestDropDeadLockOfPackedRefs(t *testing.T) {
	t.Parallel()
	r := gittest.Files(t)
	r.Git("branch", "gone", commits(t, r, 1)[0].String())
	r.Git("pack-refs", "--all")
	repo := find(t, r)
	r.Write(".git/packed-refs.new", "# half")
	file := aged(t, repo.CommonDir, "packed-refs", time.Hour)
	if found, err := DropDeadLock(t.Context(), file); !found || err != nil {
		t.Fatalf("DropDeadLock = %t, %v", found, err)
	}
	r.Git("branch", "-D", "gone")
}

func TestAwaitLocks(t *testing.T) {
	t.Parallel()
	r := gittest.Files(t)
	c := commits(t, r, 1)
	repo := find(t, r)
	r.Write(".git/"+refA+".lock", "")
	update := []Update{{Ref: refA, New: c[0]}}
	if err := repo.UpdateRefs(t.Context(), "test", update); err == nil || errors.Is(err, ErrConflict) {
		t.Errorf("with a lock: %v, want an error that is no conflict", err)
	}
	if found, err := repo.AwaitLocks(t.Context(), refA, refN); !found || err != nil {
		t.Errorf("AwaitLocks = %v, %v", found, err)
	}
	if found, err := repo.AwaitLocks(t.Context(), refA, refN); found || err != nil {
		t.Errorf("AwaitLocks without a lock = %v, %v", found, err)
	}
	if err := repo.UpdateRefs(t.Context(), "test", update); err != nil {
		t.Error(err)
	}
}
