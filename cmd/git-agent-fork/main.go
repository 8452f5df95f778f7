// Git-agent-fork goes back to a turn of an agent and starts something else there,
// code and conversation together.
//
// Usage:
//
//	git agent-fork [<mission>[/<turn>] | <commit>]
//
// It is not built yet.
//
// The exit status is 0 for help and version, 2 if the command line is wrong, and 1 otherwise.
package main

import (
	"errors"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
)

func main() {
	cmdline.Main(newApp())
}

func newApp() *cli.App {
	return &cli.App{
		Name:        "git-agent-fork",
		Usage:       "go back to a turn of an agent and try something else",
		ArgsUsage:   "[<mission>[/<turn>] | <commit>]",
		Description: "This is not built yet.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "before", Usage: "the state in which the turn started"},
			&cli.StringFlag{Name: "title", Usage: "call the new mission `<text>`"},
			&cli.StringFlag{Name: "worktree", Usage: "check it out in `<dir>`"},
			&cli.BoolFlag{Name: "no-worktree", Usage: "make no worktree"},
			&cli.BoolFlag{Name: "launch", Usage: "start the agent there"},
			&cli.BoolFlag{Name: "print", Usage: "print how to start the agent there"},
			&cli.BoolFlag{Name: "no-conversation", Usage: "leave the conversation behind"},
		},
		Action: func(*cli.Context) error {
			return errors.New("not built yet")
		},
	}
}
