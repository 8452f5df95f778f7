package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/test/gittest"
)

// aged makes a lock file of the given age beside a file, and returns the file.
func aged(t *testing.T, dir, name string, age time.Duration) string {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file+".lock", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(-age)
	if err := os.Chtimes(file+".lock", at, at); err != nil {
		t.Fatal(err)
	}
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
	if err := DropLeftLocks(t.Context(), at, []string{left, before, since, now, filepath.Join(dir, "none")}); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]bool{left: false, before: true, since: true, now: true, unnoted: true} {
		if locked(file) != want {
			t.Errorf("%s: locked is %t, want %t", filepath.Base(file), !want, want)
		}
	}
}

func TestAwaitLocks(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	c := commits(t, r, 1)
	repo := find(t, r)
	r.Write(".git/"+refA+".lock", "")
	update := []Update{{refA, c[0], plumbing.ZeroHash}}
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
