//go:build unix

package terminal

import (
	"fmt"
	"os/exec"
	"syscall"
)

// Detach starts command in dir in its own session, without a terminal, and does not wait for it: it
// keeps running when this process and the terminal are gone.
func Detach(dir string, command ...string) error {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", command[0], err)
	}
	return cmd.Process.Release()
}
