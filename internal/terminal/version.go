package terminal

import (
	"context"
	"fmt"
	"os/exec"
)

// Version returns what a program prints when it is asked for its version. ctx carries the time limit.
func Version(ctx context.Context, program string) (string, error) {
	cmd := exec.CommandContext(ctx, program, "--version")
	cmd.WaitDelay = outlive
	separate(cmd) // Ctrl-C is for us
	out, err := cmd.Output()
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		return "", fmt.Errorf("run %s --version: %w", program, err)
	}
	return string(out), nil
}
