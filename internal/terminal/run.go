package terminal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"time"
)

// A Job is a command that runs in the background of its terminal, from which it can't read, unless it
// is in the foreground.
type Job struct {
	Command []string
	Dir     string    // where it runs; empty for here
	Env     []string  // more variables
	Without []string  // names of variables of this process that it does not get
	Stdin   io.Reader // nil for nothing
	Stdout  io.Writer // the command writes to a file directly; to anything else through a pipe
	Stderr  io.Writer

	// Foreground leaves the command in the process group of this process: it can read from the terminal,
	// and what is typed there to stop or to end it reaches it, and us, from there.
	Foreground bool
	// Caught is where the caller has signals sent that are meant to end this process, if it looks out for
	// them before and after the job, too; nil to look out for them as long as the job runs.
	Caught <-chan os.Signal
}

// An Exit is how a job ended.
type Exit struct {
	Status int       // as in a shell: 128 and the number for a signal
	Caught os.Signal // that this process received meanwhile, and passed on; nil if none
}

// What a shell says of a command that it can't run.
const (
	cantRun  = 126
	notThere = 127
)

// outlive is how long we read the pipes of an ended command, for processes that it left running.
const outlive = 2 * time.Second

// Shell returns the command line to run a user's configured command in the shell, as git does.
func Shell(command string) []string { return []string{"sh", "-c", command} }

// Run runs the job and waits for its end. Signals meant to end this process go to the job and
// everything that it has started instead, or in the foreground to the job alone; this process stays. The
// error says that the command could not be run, with the status of a shell then; how it ended is not an
// error.
func (j Job) Run() (Exit, error) {
	cmd := exec.Command(j.Command[0], j.Command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = j.Stdin, j.Stdout, j.Stderr
	cmd.Dir, cmd.Env = j.Dir, j.environ()
	cmd.WaitDelay = outlive
	pass := handAlone
	if !j.Foreground {
		pass = hand
		separate(cmd)
	}
	caught := j.Caught
	if caught == nil {
		own := make(chan os.Signal, 8)
		signal.Notify(own, endings()...)
		defer signal.Stop(own)
		caught = own
	}
	if err := cmd.Start(); err != nil {
		exit := Exit{Status: cantRun}
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
			exit.Status = notThere
		}
		return exit, fmt.Errorf("run %s: %w", j.Command[0], err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var exit Exit
	for {
		select {
		case s := <-caught:
			exit.Caught = s
			pass(cmd, s)
		case err := <-ended:
			if exit.Caught != nil { // a shell may have started something in the moment in which it came
				pass(cmd, exit.Caught)
			}
			if cmd.ProcessState != nil {
				exit.Status = status(cmd.ProcessState)
			}
			if err != nil && !errors.As(err, new(*exec.ExitError)) && !errors.Is(err, exec.ErrWaitDelay) {
				return exit, fmt.Errorf("run %s: %w", j.Command[0], err)
			}
			return exit, nil
		}
	}
}

// environ is the environment of the job's command.
func (j Job) environ() []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(j.Without, name)
	})
	if j.Dir != "" {
		env = append(env, "PWD="+j.Dir)
	}
	return append(env, j.Env...)
}
