//go:build unix

package kill

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

var (
	kills = flag.Int("kills", 24, "how many processes are killed, in all scenarios together")
	seed  = flag.Uint64("seed", uint64(time.Now().UnixNano()), "what moments are drawn from")
)

// TestMain builds the programs, and puts them in front of PATH.
func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		*kills = min(*kills, 10) // the hooks
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "git-agent-kill-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	build := exec.Command("go", "build", "-tags", "urfave_cli_no_docs", "-o", dir+string(filepath.Separator), "gitagent/cmd/...")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the programs: %v\n%s", err, out)
		return 1
	}
	if err := os.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}
