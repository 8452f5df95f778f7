//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// own gives a command a process group. When it has to end, all of the group are told by a SIGQUIT, of which Go's programs
// show where they are; what is left then goes with the pipe.
func own(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGQUIT) }
}
