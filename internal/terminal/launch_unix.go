//go:build unix

package terminal

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// Launch replaces this process by command, in dir, with more variables in its environment.
// The terminal and its signals are the command's. It returns only if it fails.
func Launch(dir string, command, env []string) error {
	path, err := exec.LookPath(command[0])
	if err != nil {
		return fmt.Errorf("run %s: %w", command[0], err)
	}
	if err := os.Chdir(dir); err != nil {
		return fmt.Errorf("run %s: %w", command[0], err)
	}
	return fmt.Errorf("run %s: %w", command[0], syscall.Exec(path, command, append(os.Environ(), env...)))
}
