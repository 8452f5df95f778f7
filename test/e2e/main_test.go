//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(witnessDir); dir != "" {
		if err := testify(dir); err != nil {
			os.WriteFile(filepath.Join(dir, "error"), []byte(err.Error()), 0o666)
			os.Exit(1)
		}
		return
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	fail := func(err error) int {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	for _, tool := range []string{"git", "go", "node", "npm", "less", "tmux"} {
		if _, err := exec.LookPath(tool); err != nil {
			return fail(err)
		}
	}
	if err := installClients(context.Background()); err != nil {
		return fail(err)
	}
	bin, err := os.MkdirTemp("", "e2e-bin-")
	if err != nil {
		return fail(err)
	}
	defer os.RemoveAll(bin)
	build := exec.Command("go", "build", "-o", bin, "../../cmd/...")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		return fail(fmt.Errorf("build the commands: %w", err))
	}
	// The hooks and the tests find the commands as a user's shell would.
	os.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return m.Run()
}
