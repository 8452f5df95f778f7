package terminal

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// detachedProcess is DETACHED_PROCESS in the Windows API: no console.
const detachedProcess = 0x00000008

func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | detachedProcess}
}

// Launch runs command in dir, with env added to the environment, and exits with
// its status. It returns only if it fails.
func Launch(dir string, command, env []string) error {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); cmd.ProcessState == nil {
		return fmt.Errorf("run %s: %w", command[0], err)
	}
	os.Exit(cmd.ProcessState.ExitCode())
	return nil
}

// endings are the signals by which people and systems end a process.
func endings() []os.Signal { return []os.Signal{os.Interrupt} }

// Catch sends caught the signals that end a process.
func Catch(caught chan<- os.Signal) { signal.Notify(caught, endings()...) }

// Number returns a signal's number.
func Number(s os.Signal) int { return int(s.(syscall.Signal)) }

func separate(*exec.Cmd) {}

// hand does nothing: a console sends what is typed to all its processes.
func hand(*exec.Cmd, os.Signal) {}

func handAlone(*exec.Cmd, os.Signal) {}

func status(p *os.ProcessState) int { return p.ExitCode() }
