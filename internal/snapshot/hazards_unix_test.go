//go:build unix

package snapshot

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"gitagent/internal/record"
	"gitagent/test/gittest"
)

// What is neither a file nor a link can't be stored.
func TestTakeSpecialFiles(t *testing.T) {
	t.Parallel()
	r := base(t)
	remove(t, r, "a", "d/one")
	for _, name := range []string{"a", "fifo", "x/fifo"} {
		path := filepath.Join(r.Dir, name)
		gittest.Must(t, os.MkdirAll(filepath.Dir(path), 0o777))
		gittest.Must(t, syscall.Mkfifo(path, 0o666))
	}
	for _, name := range []string{"d/one", "socket"} {
		fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		gittest.Must(t, err)
		defer syscall.Close(fd)
		// A socket's address has 108 bytes at most, and temporary directories have long names.
		dir, err := os.Open(filepath.Dir(filepath.Join(r.Dir, name)))
		gittest.Must(t, err)
		defer dir.Close()
		gittest.Must(t, syscall.Bind(fd, &syscall.SockaddrUnix{Name: fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(name))}))
	}
	r.Write("b", "changed\n")
	check(t, r, record.Skip{Path: "a", Why: record.WhyUnreadable}, record.Skip{Path: "d/one", Why: record.WhyUnreadable})
}
