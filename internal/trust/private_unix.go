//go:build unix

package trust

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// private returns an error if others than the user can read or change a file.
func private(info fs.FileInfo) error {
	switch stat, ok := info.Sys().(*syscall.Stat_t); {
	case !info.Mode().IsRegular():
		return errors.New("it is not a regular file")
	case ok && int(stat.Uid) != os.Geteuid():
		return errors.New("it belongs to another user")
	case info.Mode().Perm()&0o077 != 0:
		return ErrExposed
	}
	return nil
}
