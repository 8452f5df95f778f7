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

// maxInit is what the initialization of one package may cost every start, in milliseconds.
// A hook starts us several times a turn; the costly packages that this is about take 20 to 40.
const maxInit = 3

// runs is how often each program is started. Of each package the fastest run counts,
// so that a machine with other work does not fail the test.
const runs = 20

// TestStartup measures what the packages of each program cost at its start.
// It is a measurement, so it has a tag, and make lint runs it instead of make test.
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
		best := map[string]float64{}
		for range runs {
			cmd := exec.Command(filepath.Join(dir, program.Name()), "--version")
			cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			if err := cmd.Run(); err != nil {
				t.Fatal(err)
			}
			for pkg, ms := range initTimes(t, stderr.String()) {
				if old, ok := best[pkg]; !ok || ms < old {
					best[pkg] = ms
				}
			}
		}
		if len(best) < 5 {
			t.Errorf("%s: only %d packages were traced: %v", program.Name(), len(best), best)
		}
		slowest, total := "", 0.0
		for pkg, ms := range best {
			total += ms
			if slowest == "" || ms > best[slowest] {
				slowest = pkg
			}
			if ms > maxInit {
				t.Errorf("%s: the initialization of %s takes %.2f ms, more than %d", program.Name(), pkg, ms, maxInit)
			}
		}
		t.Logf("%s: %d packages are initialized in %.2f ms, %s in %.2f", program.Name(), len(best), total, slowest, best[slowest])
	}
}

// initTimes reads the trace of one start: milliseconds by package.
//
//	init github.com/urfave/cli/v2 @3.2 ms, 0.035 ms clock, 4120 bytes, 37 allocs
func initTimes(t *testing.T, trace string) map[string]float64 {
	t.Helper()
	times := map[string]float64{}
	for s := bufio.NewScanner(strings.NewReader(trace)); s.Scan(); {
		words := strings.Fields(s.Text())
		if len(words) < 6 || words[0] != "init" || words[5] != "ms" {
			continue
		}
		ms, err := strconv.ParseFloat(words[4], 64)
		if err != nil {
			t.Fatalf("%q: %v", s.Text(), err)
		}
		times[words[1]] = ms
	}
	return times
}

func TestInitTimes(t *testing.T) {
	got := initTimes(t, "init runtime @0.041 ms, 0.030 ms clock, 0 bytes, 0 allocs\n"+
		"a line of the program\n"+
		"init example.invalid/slow @1.5 ms, 24.5 ms clock, 9 bytes, 1 allocs\n")
	if len(got) != 2 || got["runtime"] != 0.030 || got["example.invalid/slow"] != 24.5 {
		t.Errorf("got %v", got)
	}
}
