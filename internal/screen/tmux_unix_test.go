//go:build unix

package screen

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestAgainstTmux gives the same bytes to the real tmux. What can't agree is left out: tmux keeps no scrollback
// of the alternate screen, and prints lines and corners as the letters that they were sent as.
func TestAgainstTmux(t *testing.T) {
	t.Parallel()
	inputs := map[string]string{}
	for _, tt := range golden() {
		if !tt.ours {
			inputs[tt.name] = tt.in
		}
	}
	captured := captureAll(t, inputs)
	for name, in := range inputs {
		var got strings.Builder
		if err := Render(&got, strings.NewReader("\x1b[8;10;40t"+in)); err != nil {
			t.Fatal(err)
		}
		if got, want := trimmed(got.String()), trimmed(captured[name]); got != want {
			t.Errorf("%s: %q\ngot\n%s\ntmux has\n%s", name, in, got, want)
		}
	}
}

// trimmed leaves out white space at the ends of lines and of the text.
func trimmed(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// captureAll returns the text that tmux has of each input, in panes of 40 by 10.
func captureAll(t *testing.T, inputs map[string]string) map[string]string {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("tmux is missing")
		}
		t.Skip("tmux is missing")
	}
	dir, err := os.MkdirTemp("", "tmux-") // a socket's path ends at 108 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	tmux := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("tmux", append([]string{"-u", "-S", filepath.Join(dir, "s")}, args...)...)
		cmd.Env = append(os.Environ(), "TMUX=", "LC_ALL=C.UTF-8")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %q: %v: %s", args, err, out)
		}
		return string(out)
	}
	tmux("-f", "/dev/null", "start-server", ";", "set-option", "-g", "history-limit", "10000", ";",
		"new-session", "-d", "-x", "40", "-y", "10", "--", "sleep", "1000")
	t.Cleanup(func() { tmux("kill-server") })
	names := slices.Sorted(maps.Keys(inputs))
	var windows []string
	for i, name := range names {
		file := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(file, []byte(inputs[name]), 0o666); err != nil {
			t.Fatal(err)
		}
		// The title comes after the text, and so does what follows on the screen.
		windows = append(windows, "new-window", "-d", "-t", fmt.Sprintf(":%d", i+1), "--",
			"sh", "-c", "stty raw -echo; cat "+file+"; printf '\\033]2;drawn\\007'; exec sleep 1000", ";")
	}
	tmux(windows...)
	captured := map[string]string{}
	for i, name := range names {
		window := fmt.Sprintf(":%d", i+1)
		for tmux("display-message", "-p", "-t", window, "#{pane_title}") != "drawn\n" {
		}
		captured[name] = tmux("capture-pane", "-p", "-J", "-S", "-", "-t", window)
	}
	return captured
}
