package terminal

import (
	"fmt"
	"os/exec"
)

// Find makes sure that a program exists before any work is done for it.
func Find(name string) error {
	if _, err := exec.LookPath(name); err != nil {
		return fmt.Errorf("run %s: %w", name, err)
	}
	return nil
}
