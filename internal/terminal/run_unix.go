//go:build unix

package terminal

import (
	"os"
	"os/exec"
	"syscall"
)

// endings are the signals by which people and systems end a process.
func endings() []os.Signal {
	return []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}
}

// separate gives the command its own process group: otherwise keys typed in the terminal would
// reach it twice, once from the terminal and once from us.
func separate(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// hand sends a signal to the command's process group. If the group is gone, the signal is lost.
func hand(cmd *exec.Cmd, s os.Signal) {
	if n, ok := s.(syscall.Signal); ok {
		_ = syscall.Kill(-cmd.Process.Pid, n)
	}
}

func status(p *os.ProcessState) int {
	if ws, ok := p.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return p.ExitCode()
}
