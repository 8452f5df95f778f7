//go:build unix

package terminal

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A program of ours gets what is written for it as it comes, and need not wait for the rest.
func TestRunOwn(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "git-agent-test"), []byte("#!/bin/sh\nread -r line; echo \"$1 $line\"; exit $2\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	names, write := io.Pipe() // which is never closed
	go func() { _, _ = io.WriteString(write, "first\n") }()
	var out strings.Builder
	if err := RunOwn(t.Context(), names, &out, "git-agent-test", "got", "0"); err != nil || out.String() != "got first\n" {
		t.Errorf("it printed %q, %v", &out, err)
	}
	out.Reset()
	if err := RunOwn(t.Context(), nil, &out, "git-agent-test", "got", "3"); err == nil || out.String() != "got \n" {
		t.Errorf("with nothing to read and status 3 it printed %q, %v", &out, err)
	}
	if err := RunOwn(t.Context(), nil, &out, "git-agent-nowhere"); err == nil {
		t.Error("there is a program that is not there")
	}
}
