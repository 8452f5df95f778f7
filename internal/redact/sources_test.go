package redact

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// TestFalseHits measures what is found where no secret should be: in the sources of Go's standard
// library, of this repository and of the modules in the cache, their lock files included. Private
// key blocks are real ones, made for tests, so they don't count; all else does, although most of it
// are credentials that tests and manuals have invented. Run it with -v for the figures.
func TestFalseHits(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "env", "GOROOT", "GOMODCACHE").Output()
	if err != nil {
		t.Fatalf("find GOROOT: %v", err)
	}
	root, cache, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	dirs := []string{filepath.Join(root, "src"), "../../cmd", "../../turns", "../../docs", "../../test", "../../hooks"}
	modules, err := filepath.Glob(filepath.Join(cache, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	dirs = append(dirs, modules...)
	hits := map[string]int{}
	var size, found int
	step := gittest.Size(1, 20)
	for _, dir := range dirs {
		files, _ := source(t, dir)
		for i := 0; i < len(files); i += step {
			size += len(files[i])
			for _, sp := range find(files[i], 0) {
				if sp.rule != "" && sp.rule != rulePrivateKey {
					hits[sp.rule]++
					found++
				}
			}
		}
	}
	perMB := float64(found) / (float64(size) / 1e6)
	t.Logf("%d MB: %.2f false hits per MB, by rule %v", size/1e6, perMB, hits)
	if perMB >= 1 {
		t.Errorf("%.2f false hits per MB", perMB)
	}
	if size < 1e6 {
		t.Errorf("only %d bytes of source in %q", size, dirs)
	}
}
