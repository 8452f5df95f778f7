//go:build !windows

package copyignored

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gitagent/test/gittest"
)

// Nobody waits for a pipe.
func TestPipes(t *testing.T) {
	r := gittest.New(t)
	r.Do(".gitignore=deps/; commit one")
	write(t, r, "deps/a", "deps/swapped", "deps/closed", "deps/shut/x")
	gittest.Must(t, syscall.Mkfifo(filepath.Join(r.Dir, "deps/pipe"), 0o666))
	t.Chdir(filepath.Join(r.Dir, "deps")) // the path of a socket is short
	l, err := net.Listen("unix", "socket")
	gittest.Must(t, err)
	defer l.Close()
	files := find(t, r, "deps")
	gittest.Must(t, os.Remove("swapped"))
	gittest.Must(t, syscall.Mkfifo("swapped", 0o666))
	root := os.Geteuid() == 0 // may read anything
	if !root {
		for _, name := range []string{"closed", "shut"} {
			gittest.Must(t, os.Chmod(name, 0))
			defer os.Chmod(name, 0o700)
		}
	}
	done, err := files.Copy(context.Background(), worktree(t, r), nil)
	gittest.Must(t, err)
	left := []string{"deps/pipe: " + whyType, "deps/socket: " + whyType, "deps/swapped: " + whyGone}
	if !root {
		left = append([]string{"deps/closed: " + whyUnreadable}, append(left[:1:1], "deps/shut/x: "+whyUnreadable, left[1], left[2])...)
	}
	want(t, "left", reasons(done.Skipped), left)

	gittest.Must(t, syscall.Mkfifo(filepath.Join(r.Dir, File), 0o666))
	if _, err := Find(context.Background(), open(t, r.Dir), nil, plenty); err == nil || !strings.Contains(err.Error(), "not a file") {
		t.Errorf("a pipe for a list: %v", err)
	}
}
