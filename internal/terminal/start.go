package terminal

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// Find makes sure that a program exists before any work is done for it.
func Find(name string) error {
	if _, err := exec.LookPath(name); err != nil {
		return fmt.Errorf("run %s: %w", name, err)
	}
	return nil
}

// DetachOwn starts one of our programs, by name, in dir, without a terminal and in its own session
// (Windows: without a console), and does not wait for it: it keeps running when this process and
// the terminal are gone. It is the program beside this one's own file, or else the one on PATH.
func DetachOwn(dir, program string, args ...string) error {
	cmd := exec.Command(beside(program), args...)
	cmd.Dir, cmd.SysProcAttr = dir, detached()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", program, err)
	}
	return cmd.Process.Release()
}

// RunOwn runs one of our programs, found as by [DetachOwn], in the foreground of the terminal, with this
// process's standard error. When it ends, what it has not read of stdin is not waited for, and stdin
// may be read once more. A nil stdin is empty.
func RunOwn(ctx context.Context, stdin io.Reader, stdout io.Writer, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, beside(program), args...)
	cmd.Stdout, cmd.Stderr = stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it sets the terminal right
	cmd.WaitDelay = outlive
	if stdin != nil {
		pipe, err := cmd.StdinPipe()
		if err != nil {
			return fmt.Errorf("run %s: %w", program, err)
		}
		go func() {
			_, _ = io.Copy(pipe, stdin)
			_ = pipe.Close()
		}()
	}
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("run %s: %w", program, err)
	}
	return nil
}

// beside is the file of one of our programs: beside this one's own, or else the name, for PATH.
func beside(program string) string {
	self, err := os.Executable()
	if err != nil {
		return program
	}
	path := filepath.Join(filepath.Dir(self), program)
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		return path
	}
	return program
}

// HasScreen reports whether a program can draw on the terminal that this process belongs to, wherever
// its standard streams lead.
func HasScreen() bool {
	if name := os.Getenv("TERM"); name == "" || name == "dumb" {
		return false
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return false
	}
	return tty.Close() == nil
}
