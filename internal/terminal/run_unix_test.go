//go:build unix

package terminal

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestRun(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		command []string
		stdin   string
		want    Exit
		out     string
	}{
		{"success", []string{"sh", "-c", "echo out; echo err >&2"}, "", Exit{}, "out\n|err\n"},
		{"status", []string{"sh", "-c", "exit 7"}, "", Exit{Status: 7}, "|"},
		{"signal", []string{"sh", "-c", "kill -TERM $$"}, "", Exit{Status: 143}, "|"},
		{"standard input", []string{"cat"}, "in", Exit{}, "in|"},
		{"input that nobody reads", []string{"true"}, strings.Repeat("x", 1<<20), Exit{}, "|"},
		{"environment", []string{"sh", "-c", "echo $GIT_AGENT_TEST"}, "", Exit{}, "more\n|"},
		{"something goes on", []string{"sh", "-c", "sleep 5 & echo started"}, "", Exit{}, "started\n|"},
		{"a command line of a user", Shell("echo $((1+2)) 'a b'"), "", Exit{}, "3 a b\n|"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var stdout, stderr bytes.Buffer
			got, err := Job{
				Command: tt.command, Env: []string{"GIT_AGENT_TEST=more"}, Stdin: strings.NewReader(tt.stdin), Stdout: &stdout, Stderr: &stderr,
			}.Run()
			if err != nil || got != tt.want || stdout.String()+"|"+stderr.String() != tt.out {
				t.Errorf("%+v, %v, printed %q and %q; want %+v, %q", got, err, &stdout, &stderr, tt.want, tt.out)
			}
		})
	}
	if _, err := (Job{Command: []string{filepath.Join(t.TempDir(), "none")}}).Run(); err == nil {
		t.Error("a command that is not there could be run")
	}
}

// signaller signals this process once the job has printed something.
type signaller struct{ signal syscall.Signal }

func (s signaller) Write(p []byte) (int, error) {
	return len(p), syscall.Kill(os.Getpid(), s.signal)
}

// TestRunHandsSignalsOn sends signals to this process, which must survive them, so no other test of
// the package runs meanwhile. The shell waits for its child, as agents' wrappers do, and the signal
// must reach both. The child reports that it is ready, because signals during its start are another
// matter.
func TestRunHandsSignalsOn(t *testing.T) {
	for signal, status := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143, syscall.SIGHUP: 129} {
		got, err := Job{Command: []string{"sh", "-c", `sh -c "echo ready; exec sleep 60"; echo not reached`}, Stdout: signaller{signal}}.Run()
		if want := (Exit{Status: status, Caught: signal}); err != nil || got != want {
			t.Errorf("%v: %+v, %v, want %+v", signal, got, err, want)
		}
	}
	// One that catches the signal and ends well, at the latest when its child ends.
	got, err := Job{Command: []string{"sh", "-c", "trap 'exit 0' INT; echo ready; while sleep 1; do :; done"}, Stdout: signaller{syscall.SIGINT}}.Run()
	if want := (Exit{Caught: syscall.SIGINT}); err != nil || got != want {
		t.Errorf("caught: %+v, %v, want %+v", got, err, want)
	}
}
