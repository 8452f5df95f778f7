//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gitagent/test/gittest"
)

// TestLogKilled kills `log start`, alone or with what it has started, at any moment. A pane that tmux then takes for logged
// is logged, whatever became of its page, and where it is not, the next one logs it.
func TestLogKilled(t *testing.T) {
	gittest.Check(t)
	gittest.EachTmux(t, func(t *testing.T, program string) {
		gittest.UseTmux(t, program)
		h := newHost(t)
		dir := gittest.TempDir(t)
		home, err := os.MkdirTemp("", "tmux-") // a socket's path ends at 108 bytes
		gittest.Must(t, err)
		t.Cleanup(func() { os.RemoveAll(home) })
		socket := filepath.Join(home, "s")
		tmux := func(args ...string) string {
			t.Helper()
			cmd := exec.Command("tmux", append([]string{"-S", socket}, args...)...)
			cmd.Env = append(os.Environ(), "TMUX=", "LC_ALL=C.UTF-8")
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("tmux %q: %v: %s", args, err, out)
			}
			return strings.TrimSpace(string(out))
		}
		tmux("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", "--", "cat")
		t.Cleanup(func() { _ = exec.Command("tmux", "-S", socket, "kill-server").Run() })
		h.env = append(h.env, "TMUX="+socket+",1,0", "TMPDIR="+home)
		random := rand.New(rand.NewPCG(1, 2))
		usual := 20 * time.Millisecond
		for n, killed := 1, 0; killed < gittest.Size(60, 10); n++ {
			name := filepath.Join(dir, fmt.Sprint(n))
			cmd := h.command(nil, "git-agent-handoff", "log", "start", "--tmux", "%0", name)
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			gittest.Must(t, cmd.Start())
			end := time.Duration(random.Int64N(int64(usual)))
			for began := time.Now(); time.Since(began) < end; {
				// At any moment, also in the middle of a system call of ours.
			}
			pid := cmd.Process.Pid
			if n%2 == 0 {
				pid = -pid
			}
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
			if cmd.Wait() == nil {
				usual -= usual / 10
			} else {
				killed++
				usual += usual / 20
			}
			if tmux("display-message", "-p", "-t", "%0", "#{pane_pipe}") == "0" {
				h.run(nil, "git-agent-handoff", "log", "start", "--tmux", "%0", name)
			}
			line := fmt.Sprint("line ", n, ".")
			tmux("send-keys", "-t", "%0", line, "Enter")
			for { // the test's own time-out ends it
				if data, _ := os.ReadFile(name); strings.Contains(string(data), line) {
					break
				}
			}
			tmux("pipe-pane", "-t", "%0")
		}
		if left, err := os.ReadDir(home); err != nil || len(left) != 1 {
			t.Errorf("left are %v, %v", left, err)
		}
	})
}
