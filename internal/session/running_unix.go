//go:build unix

package session

import (
	"errors"
	"syscall"
)

// running reports whether there is a process with that id.
func running(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
