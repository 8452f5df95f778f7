package gittest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Programs are a package's tests that run the programs of this module as they are installed: they are
// built first, without a version, so that records are the same at every commit, and put in front of PATH.
//
//	func TestMain(m *testing.M) { os.Exit(gittest.Programs{M: m}.Run()) }
//
// Those for SHA-256 repositories are built as well if such are git's default, or with Both.
type Programs struct {
	M    interface{ Run() int }
	Both bool
}

// Run builds the programs, runs the tests, and returns the exit status.
func (p Programs) Run() int {
	heed()
	dir, err := os.MkdirTemp("", "git-agent-programs-")
	if err == nil {
		defer os.RemoveAll(dir)
		err = os.Chmod(dir, 0o755) // some tests run them as another user
	}
	if err == nil {
		err = build(filepath.Join(dir, "bin"), "urfave_cli_no_docs")
	}
	if err == nil && (p.Both || os.Getenv("GIT_DEFAULT_HASH") == "sha256") {
		err = build(filepath.Join(dir, "libexec", "git-agent", "sha256"), "urfave_cli_no_docs,sha256")
	}
	if err == nil {
		err = os.Setenv("PATH", filepath.Join(dir, "bin")+string(filepath.ListSeparator)+os.Getenv("PATH"))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return p.M.Run()
}

// build builds the programs with the given tags into dir.
func build(dir, tags string) error {
	cmd := exec.Command("go", "build", "-buildvcs=false", "-tags", tags, "-o", dir+string(filepath.Separator), "gitagent/cmd/...")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the programs with the tags %s: %w\n%s", tags, err, out)
	}
	return nil
}
