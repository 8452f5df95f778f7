package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gitagent/test/gittest"
)

func (s stage) String() string { return strings.Join(s.command, " ") }

// run runs the stage, and returns what became of its tests, if it has any.
func (s stage) run(ctx context.Context, out io.Writer) (*tally, error) {
	args := s.command
	tests := args[0] == "go" && args[1] == "test"
	if tests {
		args = slices.Insert(slices.Clone(args), 2, "-json", "-timeout=0", "-vet=off") // make lint vets
	}
	rest := s.name == "tests" && s.ring == "check" && os.Getenv(gittest.Passed) != ""
	if rest { // go test would take the part that runs for the whole when all of it is asked for
		args = slices.Insert(args, 2, "-count=1")
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	// What one checkout has compiled serves all others, and what programs are built of serves their tests.
	cmd.Env = append(os.Environ(), gittest.Ring+"="+s.ring, "GOFLAGS=-trimpath "+os.Getenv("GOFLAGS"))
	if !slices.Contains(args, "-race") {
		cmd.Env = append(cmd.Env, "CGO_ENABLED=0")
	}
	if !rest {
		cmd.Env = append(cmd.Env, gittest.Passed+"=") // only that is as make test, but for what it does besides
	}
	if s.git == newest {
		if bin := newestGit(); bin != "" {
			cmd.Env = append(cmd.Env, "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
		} else {
			fmt.Fprintln(out, "No newest git, which .ci/git-newest builds: this runs with the one in PATH.")
		}
	}
	cmd.Stderr = out
	own(ctx, cmd)
	cmd.WaitDelay = time.Minute // to tell where it was
	if !tests {
		cmd.Stdout = out
		return nil, cmd.Run()
	}
	printed, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	t, err := read(printed, out)
	return t, errors.Join(err, cmd.Wait())
}

// newestGit returns the directory of the git that .ci/git-newest has built, or "".
func newestGit() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	bin := filepath.Join(cache, "git-newest", "bin")
	if _, err := os.Stat(filepath.Join(bin, "git")); err != nil {
		return ""
	}
	return bin
}
