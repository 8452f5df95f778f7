//go:build unix

package main

import (
	"context"
	"errors"
	"os/exec"
	"syscall"
)

// own gives a command a process group, all of which is told to end with ctx: at the limit with a SIGQUIT, of which Go's
// programs show where they are.
func own(ctx context.Context, cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		sig := syscall.SIGTERM
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			sig = syscall.SIGQUIT
		}
		return syscall.Kill(-cmd.Process.Pid, sig)
	}
}
