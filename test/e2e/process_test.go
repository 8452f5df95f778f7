//go:build e2e

package e2e

import (
	"errors"
	"os"
	"os/exec"
	"syscall"

	"gitagent/test/gittest"
)

// A process is one run of a [player]'s client without a terminal.
type process struct {
	r      *rig
	cmd    *exec.Cmd
	stdout output
	stderr output
}

// An output is what a process has printed so far. It is a file, so that nobody has to read it: a tool that outlives the
// client may hold it open.
type output struct{ file *os.File }

func (r *rig) output() output {
	r.t.Helper()
	f, err := os.CreateTemp(r.home, "output-")
	gittest.Must(r.t, err)
	r.t.Cleanup(func() { f.Close() })
	return output{f}
}

func (o output) bytes() []byte {
	b, _ := os.ReadFile(o.file.Name())
	return b
}

// play runs the client in dir with one prompt, and returns when it has ended; session is "" for a new one.
// Its exit status is not looked at.
func (r *rig) play(dir, session, prompt string) *process {
	r.t.Helper()
	x := r.startRun(dir, session, prompt)
	x.wait()
	return x
}

// startRun is play for a run that the test ends.
func (r *rig) startRun(dir, session, prompt string) *process {
	r.t.Helper()
	return r.startArgv(dir, r.kind.(player).command(r, session, prompt)...)
}

// startArgv is startRun for a command.
func (r *rig) startArgv(dir string, argv ...string) *process {
	r.t.Helper()
	x := &process{r: r, cmd: exec.Command(argv[0], argv[1:]...), stdout: r.output(), stderr: r.output()}
	x.cmd.Dir, x.cmd.Env, x.cmd.Stdout, x.cmd.Stderr = dir, append(r.env(), "PWD="+dir), x.stdout.file, x.stderr.file
	// What it leaves running has a group of its own, which ends with the test.
	x.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := x.cmd.Start(); err != nil {
		r.t.Fatalf("start the client: %v", err)
	}
	r.t.Cleanup(func() {
		syscall.Kill(-x.cmd.Process.Pid, syscall.SIGKILL)
		if x.cmd.ProcessState == nil {
			x.cmd.Wait()
		}
	})
	return x
}

// wait waits for the end of the client.
func (x *process) wait() {
	x.r.t.Helper()
	if err := x.r.ends("the client", x.cmd.Wait); err != nil && !errors.As(err, new(*exec.ExitError)) {
		x.r.t.Fatalf("run the client: %v", err)
	}
}

// ok fails the test unless the run was a success.
func (x *process) ok() *process {
	x.r.t.Helper()
	if !x.cmd.ProcessState.Success() {
		x.r.t.Fatalf("the client: %v\n%s\n%s\n%s", x.cmd.ProcessState, x.stdout.bytes(), x.stderr.bytes(), x.r.report())
	}
	return x
}

// session is the id of the run's session.
func (x *process) session() string {
	x.r.t.Helper()
	var id string
	x.r.await("the session's id", func() bool {
		id = x.r.kind.(player).started(x.stdout.bytes())
		return id != ""
	})
	return id
}

// signal sends the client alone a signal.
func (x *process) signal(s os.Signal) {
	x.r.t.Helper()
	if err := x.cmd.Process.Signal(s); err != nil {
		x.r.t.Fatalf("signal the client: %v", err)
	}
}
