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
//
// Those for SHA-256 repositories are there as well if such are git's default, or with Both.
type Programs struct {
	M    interface{ Run() int }
	Both bool
}

// Run runs the tests and returns the exit status.
func (p Programs) Run() int {
	heed()
	dir, remove, err := Installed(p.Both)
	if err == nil {
		defer remove()
		err = os.Setenv("PATH", filepath.Join(dir, "bin")+string(filepath.ListSeparator)+os.Getenv("PATH"))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return p.M.Run()
}

// Installed returns a directory with the programs, those for SHA-256 repositories included if both or if such are git's
// default: the one that [Built] names, or one that remove removes. See [Build].
func Installed(both bool) (dir string, remove func(), err error) {
	both = both || os.Getenv("GIT_DEFAULT_HASH") == "sha256"
	if dir := os.Getenv(Built); dir != "" {
		if _, err := os.Stat(sha256Of(dir)); err == nil || !both {
			return dir, func() {}, nil
		}
	}
	if dir, err = os.MkdirTemp("", "git-agent-programs-"); err != nil {
		return "", nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) }
	if err = Build(dir, both); err != nil {
		remove()
	}
	return dir, remove, err
}

// Build builds the programs into dir as they are installed: bin, and libexec for SHA-256 repositories if both. They
// have no version, so that records are the same at every commit.
func Build(dir string, both bool) error {
	err := os.Chmod(dir, 0o755) // some tests run them as another user
	if err == nil {
		err = build(filepath.Join(dir, "bin"), "urfave_cli_no_docs")
	}
	if err == nil && both {
		err = build(sha256Of(dir), "urfave_cli_no_docs,sha256")
	}
	return err
}

func sha256Of(dir string) string { return filepath.Join(dir, "libexec", "git-agent", "sha256") }

// build builds the programs with the given tags into dir.
func build(dir, tags string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-tags", tags, "-o", dir+string(filepath.Separator), "gitagent/cmd/...")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the programs with the tags %s: %w\n%s", tags, err, out)
	}
	return nil
}
