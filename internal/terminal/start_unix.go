//go:build unix

package terminal

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"
)

func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// Launch replaces this process by command in dir, with env added to the
// environment. It returns only if it fails.
func Launch(dir string, command, env []string) error {
	path, err := exec.LookPath(command[0])
	if err == nil {
		err = os.Chdir(dir)
	}
	if err == nil {
		err = syscall.Exec(path, command, append(os.Environ(), env...))
	}
	return fmt.Errorf("run %s: %w", command[0], err)
}

// Catch has the signals by which people and systems end a process sent to the
// channel from now on, but for those that it ignores, as under nohup; and
// nobody reading what it prints does not end it.
func Catch(caught chan<- os.Signal) {
	signal.Notify(caught, slices.DeleteFunc(endings(), signal.Ignored)...)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
}

// Number returns a signal's number.
func Number(s os.Signal) int { return int(s.(syscall.Signal)) }

// endings returns the signals that users and systems end a process with.
func endings() []os.Signal {
	return []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}
}

// separate gives cmd its own process group, or typed keys would reach it twice.
func separate(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// hand sends a signal to the command's process group, if it exists.
func hand(cmd *exec.Cmd, s os.Signal) { _ = syscall.Kill(-cmd.Process.Pid, s.(syscall.Signal)) }

// handAlone sends a foreground command a signal that it did not get from keys.
func handAlone(cmd *exec.Cmd, s os.Signal) {
	if s != syscall.SIGINT && s != syscall.SIGQUIT {
		_ = cmd.Process.Signal(s)
	}
}

func status(p *os.ProcessState) int {
	if ws, ok := p.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return p.ExitCode()
}
