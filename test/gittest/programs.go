package gittest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Programs are a package's tests that run the programs of this module as they are installed: they are
// built first, and put in front of PATH.
//
//	func TestMain(m *testing.M) { os.Exit(gittest.Programs{m}.Run()) }
type Programs struct{ M interface{ Run() int } }

// Run builds the programs, runs the tests, and returns the exit status.
func (p Programs) Run() int {
	dir, err := os.MkdirTemp("", "git-agent-programs-")
	if err == nil {
		defer os.RemoveAll(dir)
		err = os.Chmod(dir, 0o755) // some tests run them as another user
	}
	if err == nil {
		build := exec.Command("go", "build", "-tags", "urfave_cli_no_docs", "-o", dir+string(filepath.Separator), "gitagent/cmd/...")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		var out []byte
		if out, err = build.CombinedOutput(); err != nil {
			err = fmt.Errorf("build the programs: %w\n%s", err, out)
		}
	}
	if err == nil {
		err = os.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return p.M.Run()
}
