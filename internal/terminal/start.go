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

// Find reports a missing program before work is done for it.
func Find(name string) error {
	if _, err := exec.LookPath(name); err != nil {
		return fmt.Errorf("run %s: %w", name, err)
	}
	return nil
}

// Path returns the file of a program in PATH.
func Path(name string) (string, error) { return exec.LookPath(name) }

// DetachOwn starts one of our programs by name, in dir and its own session
// without a terminal (Windows: a console), to outlive this process. It is the
// program beside this one's file, or else on PATH.
func DetachOwn(dir, program string, args ...string) error {
	cmd := exec.Command(beside(program), args...)
	cmd.Dir, cmd.SysProcAttr = dir, detached()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", program, err)
	}
	return cmd.Process.Release()
}

// MaxInput is the most input for [OutliveOwn], as every system's pipes hold it.
const MaxInput = 4096

// OutliveOwn starts one of our programs as [DetachOwn] does, with input, and
// waits for its end, with patience > 0 at most that long. Its output is lost.
// The error says that it did not start, or failed in that time.
func OutliveOwn(patience time.Duration, dir string, input []byte, program string, args ...string) error {
	if len(input) > MaxInput {
		return fmt.Errorf("start %s: %d bytes of input are too much", program, len(input))
	}
	stdin, write, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("start %s: %w", program, err)
	}
	defer stdin.Close()
	_, err = write.Write(input) // before the start: if we are killed, the program has all of it or does not exist
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

// RunOwn runs one of our programs (see [DetachOwn]) in the foreground, with our
// standard error. After its end, stdin may be read once more; nil is empty.
func RunOwn(ctx context.Context, stdin io.Reader, stdout io.Writer, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, beside(program), args...)
	cmd.Stdout, cmd.Stderr = stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // to reset the terminal
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

// beside returns the program's file beside this one's, or its name for PATH.
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

// Share returns share/<name> beside the directory of our programs on PATH,
// which stays when they are replaced. It may not exist.
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

// HasScreen reports whether a program can draw on this process's terminal,
// regardless of the standard streams.
func HasScreen() bool {
	switch os.Getenv("TERM") {
	case "", "dumb", "unknown":
		return false
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return false
	}
	return tty.Close() == nil
}
