//go:build unix

package lock

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// What a stranger has planted in a repository of his own is not acted upon.
func TestNoteOfAStranger(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file to somebody else")
	}
	path := filepath.Join(t.TempDir(), "lock")
	for _, uid := range []int{0, 12345} {
		l, err := Try(path)
		if l == nil || err != nil {
			t.Fatal(err)
		}
		if err := l.Note(Note{At: time.Now(), Words: []string{"/home/dev"}}); err != nil {
			t.Fatal(err)
		}
		l.Release()
		if err := os.Chown(path, uid, -1); err != nil {
			t.Fatal(err)
		}
		if l, err = Try(path); l == nil || err != nil {
			t.Fatal(err)
		}
		if got := l.Left().Words != nil; got != (uid == 0) {
			t.Errorf("the note in a file of user %d counts: %t", uid, got)
		}
		l.Release()
	}
}
