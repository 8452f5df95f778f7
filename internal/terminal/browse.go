package terminal

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"

	"gitagent/internal/limit"
)

// Browse opens a file in the user's browser with the system's program for it.
// It does not wait for a browser that stays in the foreground.
func Browse(ctx context.Context, path string) error {
	opener := []string{"xdg-open", path}
	switch runtime.GOOS {
	case "darwin":
		opener = []string{"open", path}
	case "windows":
		opener = []string{"rundll32", "url.dll,FileProtocolHandler", path}
	}
	cmd := exec.Command(opener[0], opener[1:]...)
	cmd.SysProcAttr = detached()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("open a browser: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	ctx, cancel := limit.Within(ctx, limit.Of(ctx).Browser)
	defer cancel()
	select {
	case err := <-ended:
		if err != nil {
			return fmt.Errorf("open a browser: %s: %w", opener[0], err)
		}
	case <-ctx.Done(): // the browser runs
	}
	return nil
}
