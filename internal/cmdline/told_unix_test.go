//go:build unix

package cmdline

import (
	"bytes"
	"fmt"
	"os/exec"
	"testing"

	"github.com/urfave/cli/v2"
)

// TestTold: what another program has said is not said again, and its status is ours.
func TestTold(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]struct {
		status int
		stderr string
	}{
		"exit 3":        {3, ""},
		"kill -PIPE $$": {statusUnread, ""},
		"kill -KILL $$": {1, "git-agent-test: error: run it: signal: killed\n"},
	} {
		var stderr bytes.Buffer
		app := &cli.App{Name: "git-agent-test", ErrWriter: &stderr, Action: func(*cli.Context) error {
			return Told(fmt.Errorf("run it: %w", exec.Command("sh", "-c", command).Run()))
		}}
		if status := run(t.Context(), app, []string{"git-agent-test"}, nil, nil, nil); status != want.status || stderr.String() != want.stderr {
			t.Errorf("%s: status %d, stderr %q", command, status, stderr.String())
		}
	}
}
