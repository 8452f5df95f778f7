//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package cmdline

import "golang.org/x/sys/unix"

// flush drops what was typed and not read yet.
func flush(fd int) error {
	const read = 1 // FREAD
	return unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, read)
}
