//go:build unix

package terminal

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"gitagent/test/gittest"
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
	dir := t.TempDir()
	for name, status := range map[string]int{filepath.Join(dir, "none"): 127, "no-such-command-anywhere": 127, dir: 126} {
		if exit, err := (Job{Command: []string{name}}).Run(); err == nil || exit.Status != status {
			t.Errorf("%s: status %d, %v, want %d and an error", name, exit.Status, err, status)
		}
	}
}

// TestRunElsewhere: a job has its directory, and of the environment what it is to have; in the foreground
// it is in our process group.
func TestRunElsewhere(t *testing.T) {
	t.Setenv("GIT_AGENT_TEST", "ours")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	gittest.Must(t, err)
	for _, foreground := range []bool{false, true} {
		var out bytes.Buffer
		exit, err := Job{
			Command: []string{"sh", "-c", `echo "$PWD $(pwd -P) $GIT_AGENT_TEST $(ps -o pgid= -p $$)"`}, Dir: dir, Without: []string{"GIT_AGENT_TEST"},
			Stdout: &out, Stderr: &out, Foreground: foreground,
		}.Run()
		fields := strings.Fields(out.String())
		if err != nil || exit.Status != 0 || len(fields) != 3 || fields[0] != dir || fields[1] != dir {
			t.Fatalf("%+v, %v, printed %q", exit, err, &out)
		}
		if ours := fields[2] == strconv.Itoa(syscall.Getpgrp()); ours != foreground {
			t.Errorf("foreground %t: the process group is %s, and ours is %d", foreground, fields[2], syscall.Getpgrp())
		}
	}
}

// TestRunCaught: a signal that came before the job, to somebody who looks out for it, ends the job.
func TestRunCaught(t *testing.T) {
	t.Parallel()
	caught := make(chan os.Signal, 1)
	caught <- syscall.SIGTERM
	got, err := Job{Command: []string{"sleep", "60"}, Caught: caught}.Run()
	if want := (Exit{Status: 143, Caught: syscall.SIGTERM}); err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
}

// TestRunLeavesNothing: what a job has started in the moment in which it was ended is ended, too.
func TestRunLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	gittest.Must(t, syscall.Mkfifo(filepath.Join(dir, "started"), 0o600))
	out, in, err := os.Pipe()
	gittest.Must(t, err)
	defer out.Close()
	caught := make(chan os.Signal, 1)
	go func() {
		_, _ = out.Read(make([]byte, 1))
		caught <- syscall.SIGTERM
	}()
	const script = `trap 'sh -c "echo >started; exec sleep 1000" & read x <started; exit 3' TERM; echo; while :; do sleep 1; done`
	got, err := Job{Command: []string{"sh", "-c", script}, Dir: dir, Stdout: in, Caught: caught}.Run()
	if want := (Exit{Status: 3, Caught: syscall.SIGTERM}); err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	in.Close()
	if _, err := io.Copy(io.Discard, out); err != nil { // ends when nothing is there any more that could write
		t.Error(err)
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
