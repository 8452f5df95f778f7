//go:build !unix

package terminal

import (
	"fmt"
	"os"
	"os/exec"
)

// Launch runs command in dir, with more variables in its environment, and exits with its status.
// It returns only if it fails.
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
