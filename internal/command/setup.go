package command

import (
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/git"
	"gitagent/internal/record"
	"gitagent/internal/terminal"
	"gitagent/internal/workspace"
)

// SetupFlags say what is run in a new worktree.
func SetupFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "setup", Usage: "run this shell `<command>` there, and not that of fork.setup"},
		&cli.BoolFlag{Name: "no-setup", Usage: "run nothing there"},
	}
}

// Setup returns the shell command that is run in a new worktree; "" for none. If the worktree is of a
// stranger's state, a person is asked whether to run it.
func Setup(c *cli.Context, w *workspace.Workspace, foreign bool) (string, error) {
	command := w.Settings.Fork.Setup
	if c.IsSet("setup") {
		command = c.String("setup")
	}
	switch {
	case c.Bool("no-setup") || command == "":
		return "", nil
	case !foreign:
		return command, nil
	}
	ok, err := allowed(c, "setup not run", fmt.Sprintf("The setup would be run there: %s. "+
		"It may run what the stranger has written. Run it?", cmdline.Escape(command)))
	if !ok {
		return "", err
	}
	return command, nil
}

// RunSetup runs the setup of a mission in its worktree. The mission stays however that ends.
func RunSetup(c *cli.Context, command, dir string, mission record.ID) error {
	if command == "" {
		return nil
	}
	again := "cd " + cmdline.Shell([]string{dir}) + " && " + cmdline.Shell(terminal.Shell(command))
	if err := c.Context.Err(); err != nil {
		return cmdline.Hint(fmt.Errorf("the worktree is made, its setup was not run: %w", err), "run it with:\n  "+again)
	}
	job := InWorktree(command, dir, mission)
	job.Stdout, job.Stderr = c.App.ErrWriter, c.App.ErrWriter
	if cmdline.IsTerminal(os.Stdin) {
		job.Stdin, job.Foreground = os.Stdin, true
	}
	exit, err := job.Run()
	switch {
	case exit.Caught != nil:
		err = cmdline.ExitWith(128+terminal.Number(exit.Caught), fmt.Errorf("the worktree is made, its setup was interrupted (%s)", exit.Caught))
	case err != nil:
		err = fmt.Errorf("the worktree is made, its setup was not run: %w", err)
	case exit.Status != 0:
		err = fmt.Errorf("the worktree is made, its setup ended with status %d", exit.Status)
	}
	return cmdline.Hint(err, "run it again with:\n  "+again)
}

// InWorktree is a shell command that is run for a mission in its worktree. It is told of the mission, and sees
// none of the variables with which git names another repository.
func InWorktree(command, dir string, mission record.ID) terminal.Job {
	return terminal.Job{
		Command: terminal.Shell(command), Dir: dir,
		Without: append(git.Inherited(), "GIT_AGENT_MISSION"), Env: []string{"GIT_AGENT_MISSION=" + string(mission)},
	}
}
