//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package cmdline

import "golang.org/x/sys/unix"

// typeahead reports whether more lines were typed than were read, as a paste does, and drops them: the next question
// or the shell would get them, and show them.
func typeahead(fd int) (bool, error) {
	const moment = 50 // milliseconds; a terminal hands over a paste in pieces
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, moment)
	for err == unix.EINTR {
		n, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, moment)
	}
	if err == nil {
		err = flush(fd)
	}
	return n > 0, err
}
