//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"gitagent/test/gittest"
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
	return gittest.Programs{M: m}.Run() // the hooks and the tests find them as a user's shell would
}
