//go:build unix

package statedir

import (
	"os"
	"testing"
	"time"
)

// A note that another user has planted is not acted upon.
func TestNoteOfAnother(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file to somebody else")
	}
	dir := In(t.TempDir(), "dir")
	for _, uid := range []int{0, 12345} {
		l, err := dir.TryLock("lock")
		if l == nil || err != nil {
			t.Fatal(err)
		}
		if err := l.Note(Note{At: time.Now(), Words: []string{"/home/dev"}}); err != nil {
			t.Fatal(err)
		}
		l.Release()
		if err := os.Chown(dir.Path("lock"), uid, -1); err != nil {
			t.Fatal(err)
		}
		if l, err = dir.TryLock("lock"); l == nil || err != nil {
			t.Fatal(err)
		}
		if got := l.Left().Words != nil; got != (uid == 0) {
			t.Errorf("the note in a file of user %d counts: %t", uid, got)
		}
		l.Release()
	}
}
