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

// A Job is a command in the background of its terminal, where it can't read,
// unless Foreground is set.
type Job struct {
	Command []string
	Dir     string    // working directory; empty for this process's
	Env     []string  // additional variables
	Without []string  // variables that it does not inherit
	Stdin   io.Reader // nil for nothing
	Stdout  io.Writer // a file directly, anything else through a pipe
	Stderr  io.Writer

	// Foreground leaves the command in our process group: it can read from the
	// terminal, which signals it and us.
	Foreground bool
	// Caught receives the signals that end this process, if the caller also
	// handles them before and after the job; else nil.
	Caught <-chan os.Signal
}

// An Exit is how a job ended.
type Exit struct {
	Status int       // as in a shell: 128 plus a signal's number
	Caught os.Signal // last signal passed on, or nil
}

// Exit statuses of a shell for a command that it can't run.
const (
	cantRun  = 126
	notThere = 127
)

// outlive is how long to read from processes that a command left running.
const outlive = 2 * time.Second

// Shell returns the command line that runs command in the shell, as git does.
func Shell(command string) []string { return []string{"sh", "-c", command} }

// Run runs the job and waits for its end. Signals that would end this process
// only go to the job: in the foreground to it alone, else to all its processes.
// An error says that the command could not be run; Status is then a shell's.
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
			if exit.Caught != nil { // a shell may just have started something
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

// environ returns the command's environment.
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
