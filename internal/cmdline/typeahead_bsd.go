//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package cmdline

import "golang.org/x/sys/unix"

func flush(fd int) error {
	const read = 1 // FREAD
	return unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, read)
}
