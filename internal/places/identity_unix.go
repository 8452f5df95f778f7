//go:build unix

package places

import (
	"fmt"
	"syscall"
)

// identity tells a directory from all others that are there, wherever on its
// file system it is moved to, and from one of another user's that has its inode
// later; "" if it is not there.
func identity(dir string) string {
	var s syscall.Stat_t
	if err := syscall.Stat(dir, &s); err != nil {
		return ""
	}
	return fmt.Sprintf("%d %d %d", s.Dev, s.Ino, s.Uid)
}
