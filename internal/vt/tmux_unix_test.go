//go:build unix

package vt

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// TestAgainstTmux gives the same bytes to the real tmux, except where we differ on purpose: tmux
// keeps no scrollback of the alternate screen, for instance.
func TestAgainstTmux(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	inputs := map[string]string{"joined and widened": joined}
	for _, tt := range golden() {
		if !tt.ours {
			inputs[tt.name] = tt.in
		}
	}
	for seed := range gittest.Size(40, 10) {
		inputs[fmt.Sprintf("random %d", seed)] = randomOutput(rand.New(rand.NewPCG(uint64(seed), 4)))
	}
	gittest.EachTmux(t, func(t *testing.T, tmux string) {
		captured, clusters := captureAll(t, tmux, inputs)
		begin := "\x1b[8;10;40t"
		if clusters {
			begin += "\x1b[?2027h"
		}
		for name, in := range inputs {
			got, want := trimmed(render(t, begin+"\x1b[H"+in)), trimmed(captured[name])
			if strings.HasPrefix(name, "random") { // where to cut a half-erased line is tmux's own affair
				got, want = strings.Join(strings.Fields(got), ""), strings.Join(strings.Fields(want), "")
			}
			if got != want {
				t.Errorf("%s: %q\ngot\n%s\ntmux has\n%s", name, in, got, want)
			}
		}
	})
}

// trimmed drops white space at the ends of lines, and blank lines at both ends.
func trimmed(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// randomOutput is the output of a program gone mad.
func randomOutput(r *rand.Rand) string {
	var b strings.Builder
	n := r.IntN
	for range 60 {
		switch n(20) {
		case 0, 1, 2, 3:
			b.WriteString(strings.Repeat(fmt.Sprintf("w%d ", n(100)), n(14)))
		case 4, 5, 6, 7, 8:
			b.WriteString("\r\n")
		case 9:
			b.WriteString([]string{"\r", "\n", "\b", "\t"}[n(4)])
		case 10:
			fmt.Fprintf(&b, "\x1b[%d;%dH", 1+n(12), 1+n(44))
		case 11, 12:
			fmt.Fprintf(&b, "\x1b[%d%c", n(5), "ABCD"[n(4)])
		case 13:
			fmt.Fprintf(&b, "\x1b[%d%c", 1+n(12), "EFGd"[n(4)])
		case 14:
			fmt.Fprintf(&b, "\x1b[%dK", n(3))
		case 15:
			fmt.Fprintf(&b, "\x1b[%dJ", n(3))
		case 16, 17:
			fmt.Fprintf(&b, "\x1b[%d%c", 1+n(4), "LM@PXST"[n(7)])
		case 18:
			fmt.Fprintf(&b, "\x1b[%d;%dr", n(6), n(11))
		case 19:
			b.WriteString([]string{"\x1b7", "\x1b8", "\x1bM", "\x1bD", "\x1bE"}[n(5)])
		}
	}
	return b.String()
}

// captureAll returns tmux's text for each input, in panes of 40 by 10, and
// whether it joins what makes up an emoji.
func captureAll(t *testing.T, path string, inputs map[string]string) (captured map[string]string, clusters bool) {
	t.Helper()
	dir, err := os.MkdirTemp("", "tmux-") // a socket's path ends at 108 bytes
	gittest.Must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	tmux := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(path, append([]string{"-u", "-S", filepath.Join(dir, "s")}, args...)...)
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
	for i, name := range names {
		file := filepath.Join(dir, fmt.Sprint(i))
		gittest.Must(t, os.WriteFile(file, []byte(inputs[name]), 0o666))
		// The title comes after the text, and reaches the screen after it, too.
		tmux("new-window", "-d", "-t", fmt.Sprintf(":%d", i+1), "--",
			"sh", "-c", "stty raw -echo; cat "+file+"; printf '\\033]2;drawn\\007'; exec sleep 1000")
	}
	captured = map[string]string{}
	for i, name := range names {
		window := fmt.Sprintf(":%d", i+1)
		for tmux("display-message", "-p", "-t", window, "#{pane_title}") != "drawn\n" {
		}
		stops := strings.TrimSpace(tmux("display-message", "-p", "-t", window, "#{pane_tabs}"))
		captured[name] = string(Captured([]byte(tmux("capture-pane", "-p", "-e", "-J", "-S", "-", "-t", window)), 40, stops))
	}
	return captured, tmux("display-message", "-p", "#{variation-selector-always-wide}") == "1\n"
}
