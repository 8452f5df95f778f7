//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package statedir

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// locked tests for a conflicting POSIX lock: here the two kinds see each other.
func locked(path string) (bool, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	l := syscall.Flock_t{Type: syscall.F_WRLCK}
	if err := syscall.FcntlFlock(f.Fd(), syscall.F_GETLK, &l); err != nil {
		return false, err
	}
	return l.Type != syscall.F_UNLCK, nil
}
