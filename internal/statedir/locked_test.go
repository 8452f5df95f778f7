package statedir

import (
	"errors"
	"os"
	"testing"
)

// TestLocked: a lock is seen while it is held, by whomever, and stays free for others.
func TestLocked(t *testing.T) {
	t.Parallel()
	dir := In(t.TempDir(), "dir")
	path := dir.Path("x")
	is := func(when string, want bool) {
		t.Helper()
		got, err := Locked(path)
		if errors.Is(err, errors.ErrUnsupported) {
			t.Skip("this system does not tell")
		}
		if got != want || err != nil {
			t.Errorf("%s: %t, %v", when, got, err)
		}
	}
	is("without a directory", false)
	if err := os.Mkdir(dir.Path("."), 0o700); err != nil {
		t.Fatal(err)
	}
	is("without a file", false)
	for range 2 {
		l, err := dir.TryLock("x")
		if l == nil || err != nil {
			t.Fatalf("a file that is only looked at can't be locked: %v", err)
		}
		is("while it is held", true)
		l.Release()
		is("after it was released", false)
	}
}
