//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package cmdline

import "golang.org/x/sys/unix"

// typeahead drops further typed lines, as of a paste, and reports whether there
// were any. Otherwise the next question or the shell would get and show them.
func typeahead(fd int) (bool, error) {
	const moment = 50 // milliseconds; a paste comes in pieces
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, moment)
	for err == unix.EINTR {
		n, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, moment)
	}
	if err == nil {
		err = flush(fd)
	}
	return n > 0, err
}
