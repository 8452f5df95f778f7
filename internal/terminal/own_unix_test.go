//go:build unix

package terminal

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"gitagent/test/gittest"
)

// A program of ours gets what is written for it as it comes, and need not wait for the rest.
func TestRunOwn(t *testing.T) {
	dir := t.TempDir()
	gittest.Must(t, os.WriteFile(filepath.Join(dir, "git-agent-test"), []byte("#!/bin/sh\nread -r line; echo \"$1 $line\"; exit $2\n"), 0o755))
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

// A program that goes on for longer than somebody is patient is left alone, and has what it was given.
func TestOutliveOwn(t *testing.T) {
	dir := t.TempDir()
	gate, out := filepath.Join(dir, "gate"), filepath.Join(dir, "out")
	gittest.Must(t, syscall.Mkfifo(gate, 0o600))
	const text = "#!/bin/sh\nread -r line; [ $# -lt 2 ] || exit $2; read -r go <\"$1/gate\"; echo \"$line $go\" >\"$1/new\"; mv \"$1/new\" \"$1/out\"\n"
	gittest.Must(t, os.WriteFile(filepath.Join(dir, "git-agent-test"), []byte(text), 0o755))
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	gittest.Must(t, OutliveOwn(time.Millisecond, dir, []byte("first\n"), "git-agent-test", dir))
	if err := os.WriteFile(gate, []byte("on\n"), 0); err != nil { // waits for it to read
		t.Fatal(err)
	}
	for {
		if got, err := os.ReadFile(out); err == nil {
			if string(got) != "first on\n" {
				t.Errorf("it had %q", got)
			}
			break
		}
		runtime.Gosched()
	}
	if err := OutliveOwn(time.Hour, dir, []byte("first\n"), "git-agent-test", dir, "3"); err == nil {
		t.Error("nothing is said of a program that fails")
	}
	if err := OutliveOwn(time.Hour, dir, make([]byte, MaxInput+1), "git-agent-test", dir, "0"); err == nil {
		t.Error("nothing is said of too much input")
	}
	gittest.Must(t, OutliveOwn(time.Hour, dir, make([]byte, MaxInput), "git-agent-test", dir, "0"))
	if err := OutliveOwn(time.Hour, dir, nil, "git-agent-nowhere"); err == nil {
		t.Error("there is a program that is not there")
	}
}
