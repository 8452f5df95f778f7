package local

import (
	"os"

	"golang.org/x/sys/unix"
)

// exchange swaps two files of a directory at once.
func exchange(dir *os.File, a, b string) error {
	fd := int(dir.Fd())
	return unix.Renameat2(fd, a, fd, b, unix.RENAME_EXCHANGE)
}
