package command

import (
	"context"
	"os"

	"gitagent/internal/terminal"
)

// Manual shows a manual page as git does, and reports whether there is one.
func Manual(ctx context.Context, page string) bool {
	if _, err := terminal.Capture(ctx, "", "man", "-w", page); err != nil {
		return false
	}
	exit, err := terminal.Job{
		Command: []string{"git", "help", "--man", page},
		Stdin:   os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Foreground: true,
	}.Run()
	return err == nil && exit.Status == 0
}
