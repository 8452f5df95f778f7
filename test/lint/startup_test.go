//go:build lint

package lint

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// maxInit is how many allocations the initialization of one package may cost every start.
// A hook starts us several times a turn; the costly packages that this is about make tens of thousands,
// which take 20 to 40 ms.
const maxInit = 4000

// TestStartup counts what the packages of each program allocate at its start: it is the same however busy
// the machine is.
func TestStartup(t *testing.T) {
	dir := t.TempDir()
	build := exec.Command("go", "build", "-tags", "urfave_cli_no_docs", "-o", dir+string(filepath.Separator), "./cmd/...")
	build.Dir = top
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	programs, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(programs) != 3 {
		t.Fatalf("built %d programs, want 3", len(programs))
	}
	for _, program := range programs {
		cmd := exec.Command(filepath.Join(dir, program.Name()), "--version")
		cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		all := allocations(t, stderr.String())
		if len(all) < 5 {
			t.Errorf("%s: only %d packages were traced: %v", program.Name(), len(all), all)
		}
		for pkg, n := range all {
			if n > maxInit {
				t.Errorf("%s: the initialization of %s makes %d allocations, more than %d", program.Name(), pkg, n, maxInit)
			}
		}
	}
}

// allocations reads the trace of one start: how many, by package.
//
//	init github.com/urfave/cli/v2 @3.2 ms, 0.035 ms clock, 4120 bytes, 37 allocs
func allocations(t *testing.T, trace string) map[string]int {
	t.Helper()
	all := map[string]int{}
	for s := bufio.NewScanner(strings.NewReader(trace)); s.Scan(); {
		words := strings.Fields(s.Text())
		if len(words) < 11 || words[0] != "init" || words[10] != "allocs" {
			continue
		}
		n, err := strconv.Atoi(words[9])
		if err != nil {
			t.Fatalf("%q: %v", s.Text(), err)
		}
		all[words[1]] = n
	}
	return all
}
