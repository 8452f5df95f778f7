package gittest

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"testing"
)

// A Family is the processes that a test's own have started, which may outlive
// them. They have an end of a pipe in common.
type Family struct {
	t             testing.TB
	reads, writes *os.File
}

// NewFamily returns one that nobody belongs to yet. The test ends when all of
// them have ended.
func NewFamily(t testing.TB) *Family {
	t.Helper()
	f := &Family{t: t}
	f.open()
	t.Cleanup(func() {
		f.Await()
		f.reads.Close()
		f.writes.Close()
	})
	return f
}

func (f *Family) open() {
	var err error
	if f.reads, f.writes, err = os.Pipe(); err != nil {
		f.t.Error(err)
	}
}

// Join makes a command that is not started yet one of them, with all that it
// starts.
func (f *Family) Join(cmd *exec.Cmd) { cmd.ExtraFiles = append(cmd.ExtraFiles, f.writes) }

// Await returns when all of them have ended.
func (f *Family) Await() {
	f.writes.Close()
	_, err := io.Copy(io.Discard, f.reads)
	if err = errors.Join(err, f.reads.Close()); err != nil {
		f.t.Error(err)
	}
	f.open()
}
