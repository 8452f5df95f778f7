package claude

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gitagent/internal/transcript"
)

func TestFiles(t *testing.T) {
	t.Parallel()
	config := filepath.Join(t.TempDir(), "c[1]") // no pattern
	var want []transcript.File
	for _, name := range []string{"-home-dev-a/5b60.jsonl", "-home-dev-b/5b61.jsonl", "-home-dev-b/6c.jsonl", "-home-dev-b/5b60.txt"} {
		path := filepath.Join(config, "projects", filepath.FromSlash(name))
		write(t, path, "")
		want = append(want, transcript.File{Session: strings.TrimSuffix(filepath.Base(path), ".jsonl"), Path: path})
	}
	for prefix, want := range map[string][]transcript.File{"": want[:3], "5b6": want[:2], "5b60": want[:1], "*": nil} {
		if got, err := Files(config, prefix); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v, want %v", prefix, got, err, want)
		}
	}
}
