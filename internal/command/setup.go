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

// SetupFlags returns the flags for what is run in a new worktree.
func SetupFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "setup", Usage: "run this shell `<command>` there, and not that of fork.setup"},
		&cli.BoolFlag{Name: "no-setup", Usage: "run nothing there"},
	}
}

// Setup returns the shell command to run in a new worktree, or "". If the
// worktree's state is untrusted, a person is asked first.
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
		"It may run untrusted code. Run it?", cmdline.Escape(command)))
	if !ok {
		return "", err
	}
	return command, nil
}

// RunSetup runs a mission's setup in its worktree. If it fails, the mission
// stays.
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

// InWorktree returns a job that runs a shell command in a mission's worktree.
// It names the mission, and drops the variables that name a repository to git.
func InWorktree(command, dir string, mission record.ID) terminal.Job {
	return terminal.Job{
		Command: terminal.Shell(command), Dir: dir,
		Without: append(git.Inherited(), "GIT_AGENT_MISSION"), Env: []string{"GIT_AGENT_MISSION=" + string(mission)},
	}
}
