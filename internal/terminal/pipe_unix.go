//go:build unix

package terminal

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// makePipe makes a named pipe that only the user can open.
func makePipe(name string) error { return syscall.Mkfifo(name, 0o600) }

// whileRead waits until a process reads from a named pipe, and lets it wait
// until do has ended.
func whileRead(ctx context.Context, name string, do func() error) error {
	for {
		f, err := os.OpenFile(name, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		switch {
		case err == nil:
			defer f.Close()
			return do()
		case !errors.Is(err, syscall.ENXIO): // nobody reads
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}
