package terminal

import (
	"fmt"
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
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), program)
		if runtime.GOOS == "windows" {
			beside += ".exe"
		}
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
			program = beside
		}
	}
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.SysProcAttr = dir, detached()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", program, err)
	}
	return cmd.Process.Release()
}
