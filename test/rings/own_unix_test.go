//go:build unix

package main

import (
	"context"
	"io"
	"os"
	"syscall"
	"testing"
)

// TestOwn: what a stage has started, and what that has started, ends with it.
func TestOwn(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"held", "never"} { // nobody writes to the second
		if err := syscall.Mkfifo(name, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := stage{command: []string{"sh", "-c", "sh -c 'echo >&3; read x <never' 3>held & wait"}}.run(ctx, io.Discard)
		ended <- err
	}()
	held, err := os.Open("held")
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if _, err := held.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; err == nil {
		t.Error("no error")
	}
	if _, err := io.ReadAll(held); err != nil { // which ends when nobody holds it
		t.Error(err)
	}
}
