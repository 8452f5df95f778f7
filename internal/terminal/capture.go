package terminal

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
)

// maxCapture is how many bytes of output are kept.
const maxCapture = 64 << 10

// Capture runs a program in dir without a terminal, until it ends or ctx is
// done, and returns the end of both output streams.
func Capture(ctx context.Context, dir, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	var out bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &out
	cmd.WaitDelay = outlive
	err := cmd.Run()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	text := out.Bytes()
	text = text[max(0, len(text)-maxCapture):]
	if err != nil {
		return string(text), fmt.Errorf("run %s: %w", program, err)
	}
	return string(text), nil
}
