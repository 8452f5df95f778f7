package gittest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Built is the variable that names a directory in which [Build] has been, so that not every package builds the programs.
const Built = "GIT_AGENT_PROGRAMS"

// Programs are a package's tests that run the programs of this module as they are installed: they are
// built first, unless [Built] says where they are, and put in front of PATH.
//
//	func TestMain(m *testing.M) { os.Exit(gittest.Programs{M: m}.Run()) }
type Programs struct{ M interface{ Run() int } }

// Run runs the tests and returns the exit status.
func (p Programs) Run() int {
	heed()
	dir, remove, err := Installed()
	if err == nil {
		defer remove()
		err = leavePassed()
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

// Installed returns a directory with the programs: the one that [Built] names, or one that remove removes. See [Build].
func Installed() (dir string, remove func(), err error) {
	if dir := os.Getenv(Built); dir != "" {
		return dir, func() {}, nil
	}
	if dir, err = os.MkdirTemp("", "git-agent-programs-"); err != nil {
		return "", nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) }
	if err = Build(dir); err != nil {
		remove()
	}
	return dir, remove, err
}

// Build builds the programs into dir as they are installed, in bin. They have no version, so that records are the same
// at every commit.
func Build(dir string) error {
	if err := os.Chmod(dir, 0o755); err != nil { // some tests run them as another user
		return err
	}
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-tags", "urfave_cli_no_docs", "-ldflags", "-X gitagent/internal/command.inTests=yes",
		"-o", filepath.Join(dir, "bin")+string(filepath.Separator), "gitagent/cmd/...")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the programs: %w\n%s", err, out)
	}
	return nil
}
