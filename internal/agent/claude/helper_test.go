package claude

import (
	"bytes"
	"iter"
	"os"
	"path/filepath"
	"testing"

	"gitagent/internal/transcript"
	"gitagent/test/gittest"
)

// lines yields each line of b with its offset and without its newline.
func lines(b []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		at := 0
		for line := range bytes.Lines(b) {
			if !yield(at, bytes.TrimSuffix(line, []byte{'\n'})) {
				return
			}
			at += len(line)
		}
	}
}

// write writes the file at path, making its directories.
func write(t testing.TB, path, content string) {
	t.Helper()
	gittest.Must(t, os.MkdirAll(filepath.Dir(path), 0o777))
	gittest.Must(t, os.WriteFile(path, []byte(content), 0o600))
}

// add appends to the file at path. It may be called from any goroutine.
func add(t testing.TB, path, content string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close()
	if _, err := f.WriteString(content); err != nil {
		t.Error(err)
	}
}

func readSegment(t testing.TB, path string, c transcript.Cursor) transcript.NewLines {
	t.Helper()
	s, err := transcript.ReadSegment(path, c)
	gittest.Must(t, err)
	return s
}

// once has the ids that were seen.
type once map[string]bool

func (o once) first(id string) bool {
	seen := id != "" && o[id]
	o[id] = true
	return !seen
}

// Limits of package transcript.
const (
	maxLine     = 2 << 20  // that is read backwards
	maxRecord   = 32 << 20 // that is rendered
	maxCalls    = 1 << 20  // bytes of calls that wait for their results
	maxPlain    = 500      // columns without a terminal
	maxCommits  = 1000
	resultLines = 20
)
