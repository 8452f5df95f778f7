package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
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

// MaxInput is how much input [OutliveOwn] takes: what a pipe holds on every system.
const MaxInput = 4096

// OutliveOwn starts one of our programs as [DetachOwn] does, with input to read, and waits for its end, but
// not longer than it is patient, if that is not zero. What the program prints is lost. The error says that it could not be started,
// or failed while it was waited for.
func OutliveOwn(patience time.Duration, dir string, input []byte, program string, args ...string) error {
	if len(input) > MaxInput {
		return fmt.Errorf("start %s: %d bytes of input are too much", program, len(input))
	}
	stdin, write, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("start %s: %w", program, err)
	}
	defer stdin.Close()
	_, err = write.Write(input) // before it starts: if this process is killed now, the program has all or does not exist
	if err = errors.Join(err, write.Close()); err != nil {
		return fmt.Errorf("start %s: %w", program, err)
	}
	cmd := exec.Command(beside(program), args...)
	cmd.Dir, cmd.SysProcAttr, cmd.Stdin = dir, detached(), stdin
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", program, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var over <-chan time.Time
	if patience > 0 {
		over = time.After(patience)
	}
	select {
	case err := <-ended:
		if err != nil {
			return fmt.Errorf("run %s: %w", program, err)
		}
	case <-over:
	}
	return nil
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

// Share is the directory of what was installed for our programs beside them: share/<name> next to the
// directory that PATH has them in, which stays when they are replaced. Nobody looks whether it is there.
func Share(name string) string {
	path, err := exec.LookPath("git-agent-turn")
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return ""
	}
	return filepath.Join(filepath.Dir(filepath.Dir(path)), "share", name)
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
