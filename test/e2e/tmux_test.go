//go:build e2e

package e2e

import (
	"bytes"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// A terminal is one pane of a private tmux server, which ends with the test.
// A program that has ended leaves its last screen behind.
type terminal struct {
	t   testing.TB
	env []string
}

// newTerminal runs a program in a pane of 120 by 40.
func newTerminal(t testing.TB, env []string, dir string, argv ...string) *terminal {
	t.Helper()
	return newTerminalOf(t, 120, 40, env, dir, argv...)
}

// newTerminalOf is newTerminal for a pane of any size.
func newTerminalOf(t testing.TB, width, height int, env []string, dir string, argv ...string) *terminal {
	t.Helper()
	s := &terminal{t: t, env: env}
	t.Cleanup(func() { s.try("kill-server") })
	args := []string{
		"-f", "/dev/null", "start-server", ";", "set-option", "-g", "remain-on-exit", "on", ";",
		"new-session", "-d", "-x", strconv.Itoa(width), "-y", strconv.Itoa(height), "-c", dir, "--",
	}
	s.tmux(append(args, argv...)...)
	return s
}

func (s *terminal) try(args ...string) (string, error) {
	// The server's socket lies in TMUX_TMPDIR, which is the rig's own.
	cmd := exec.Command("env", append([]string{"tmux", "-L", "e2e"}, args...)...) // the one in the rig's PATH
	cmd.Env = s.env
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if err != nil {
		return stderr.String(), err
	}
	return stdout.String(), nil
}

func (s *terminal) tmux(args ...string) string {
	s.t.Helper()
	out, err := s.try(args...)
	if err != nil {
		s.t.Fatalf("tmux %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSuffix(out, "\n")
}

// screen is the text of the visible page.
func (s *terminal) screen() string {
	out, _ := s.try("capture-pane", "-p")
	return out
}

// keys presses keys by their tmux names.
func (s *terminal) keys(names ...string) {
	s.t.Helper()
	s.tmux(append([]string{"send-keys"}, names...)...)
}

// text types text as it is.
func (s *terminal) text(text string) {
	s.t.Helper()
	s.tmux("send-keys", "-l", text)
}

// pid is the process that the pane runs.
func (s *terminal) pid() int {
	s.t.Helper()
	pid, err := strconv.Atoi(s.tmux("display-message", "-p", "#{pane_pid}"))
	if err != nil {
		s.t.Fatalf("ask for the pane's process: %v", err)
	}
	return pid
}

// dead says whether the program has ended.
func (s *terminal) dead() bool {
	out, err := s.try("display-message", "-p", "#{pane_dead}")
	return err != nil || strings.TrimSpace(out) == "1"
}
