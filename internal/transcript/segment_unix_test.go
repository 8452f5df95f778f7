//go:build unix

package transcript

import (
	"path/filepath"
	"syscall"
	"testing"
)

// A hook that is given a named pipe must not wait for a writer.
func TestNamedPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSegment(path, Cursor{}); err == nil {
		t.Error("ReadSegment of a named pipe succeeded")
	}
	if _, err := End(path); err == nil {
		t.Error("End of a named pipe succeeded")
	}
	if _, err := Wait(t.Context(), silence, path, Cursor{}, Want{}); err == nil {
		t.Error("Wait for a named pipe succeeded")
	}
}
