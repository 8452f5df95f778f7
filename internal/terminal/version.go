package terminal

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
)

// Version returns the output of program --version. ctx has the time limit.
func Version(ctx context.Context, program string) (string, error) {
	cmd := exec.CommandContext(ctx, program, "--version")
	cmd.WaitDelay = outlive
	separate(cmd) // we get Ctrl-C
	out, err := cmd.Output()
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		return "", fmt.Errorf("run %s --version: %w", program, err)
	}
	return string(out), nil
}

// Failed reports whether err is of a program that is missing or has failed.
func Failed(err error) bool {
	return errors.As(err, new(*exec.ExitError)) || errors.As(err, new(*exec.Error))
}
