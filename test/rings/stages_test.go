package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestConcurrent: the race detector looks at each package that starts a goroutine.
func TestConcurrent(t *testing.T) {
	starts := regexp.MustCompile(`(?m)^\s*go (func|[a-zA-Z.]+)\(|\.Go\(|\.Async\(func`)
	// Of what these start, scripts of the commands are the test.
	through := []string{"./internal/repair", "./internal/ledgertx"}
	found := 0
	for _, root := range []string{"../../cmd", "../../internal", "../../turns", "../../hooks", "../../gitnotes", "../../handoffstore"} {
		err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil || !starts.Match(text) {
				return err
			}
			found++
			dir := "./" + filepath.ToSlash(strings.TrimPrefix(filepath.Dir(path), "../../"))
			if !slices.Contains(concurrent, dir) && !slices.Contains(through, dir) && !strings.HasPrefix(dir, "./cmd/") {
				t.Errorf("%s starts goroutines, and is not in concurrent", path)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found < 10 {
		t.Errorf("only %d files start goroutines", found)
	}
}

// TestStages: names are those of one stage each, and a ring that is left says so by its name.
func TestStages(t *testing.T) {
	for ring, stages := range rings {
		seen := make(map[string]bool)
		for _, s := range stages {
			if seen[s.name] || s.name == "" || len(s.command) < 2 {
				t.Errorf("%s: stage %q of %v", ring, s.name, s.command)
			}
			seen[s.name] = true
		}
	}
}
