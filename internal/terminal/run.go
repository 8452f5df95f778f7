package terminal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"time"
)

// A Job is a command that runs in the background of its terminal, from which it can't read.
type Job struct {
	Command []string
	Env     []string  // more variables
	Stdin   io.Reader // nil for nothing
	Stdout  io.Writer // the command writes to a file directly; to anything else through a pipe
	Stderr  io.Writer
}

// An Exit is how a job ended.
type Exit struct {
	Status int       // as in a shell: 128 and the number for a signal
	Caught os.Signal // that this process received meanwhile, and passed on; nil if none
}

// outlive is how long we read the pipes of an ended command, for processes that it left running.
const outlive = 2 * time.Second

// Shell returns the command line to run a user's configured command in the shell, as git does.
func Shell(command string) []string { return []string{"sh", "-c", command} }

// Run runs the job and waits for its end. Signals meant to end this process go to the job and
// everything that it has started instead; this process stays. The error says that the command could
// not be run; how it ended is not an error.
func (j Job) Run() (Exit, error) {
	cmd := exec.Command(j.Command[0], j.Command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = j.Stdin, j.Stdout, j.Stderr
	cmd.Env = append(os.Environ(), j.Env...)
	cmd.WaitDelay = outlive
	separate(cmd)
	caught := make(chan os.Signal, 8)
	signal.Notify(caught, endings()...)
	defer signal.Stop(caught)
	if err := cmd.Start(); err != nil {
		return Exit{}, fmt.Errorf("run %s: %w", j.Command[0], err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var exit Exit
	for {
		select {
		case s := <-caught:
			exit.Caught = s
			hand(cmd, s)
		case err := <-ended:
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
