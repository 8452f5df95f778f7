package gittest

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestDo takes each kind of step.
func TestDo(t *testing.T) {
	t.Parallel()
	r := New(t)
	r.Do("a=one; d/b:two, or; empty:; c=x = y: z; commit the first")
	r.Says("the first", "log", "--format=%s")
	for name, want := range map[string]string{"a": "one\n", "d/b": "two, or", "empty": "", "c": "x = y: z\n"} {
		if got := r.Read(name); got != want {
			t.Errorf("%s holds %q, want %q", name, got, want)
		}
	}
	if runtime.GOOS == "windows" {
		return // it has no such modes, and lets few users make links
	}
	r.Do("rm c d; git mv a e; ln e l/link; chmod 640 e")
	r.Says(" D c\n D d/b\nR  a -> e\n?? l/", "status", "--porcelain")
	target, err := os.Readlink(filepath.Join(r.Dir, "l/link"))
	Must(t, err)
	info, err := os.Stat(filepath.Join(r.Dir, "e"))
	Must(t, err)
	if target != "e" || info.Mode() != 0o640 {
		t.Errorf("the link leads to %q, the mode is %v", target, info.Mode())
	}
}
