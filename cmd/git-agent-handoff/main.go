// Git-agent-handoff carries an agent's work from one session to the next.
//
// It is run by git as `git agent-handoff`, and by the hooks of an agent's client.
// The commands and their flags are described in docs/git-agent-handoff.1.
package main

import (
	"os"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/git"
	"gitagent/internal/hookrun"
)

func main() {
	if args, ok := hookrun.IsHook(os.Args[1:]); ok {
		hook(args)
		return
	}
	cmdline.Main(newApp(), git.ErrNotFound)
}

func newApp() *cli.App {
	return &cli.App{
		Name:  "git-agent-handoff",
		Usage: "carry an agent's work from one session to the next",
		Commands: []*cli.Command{
			writeCommand(),
			gatherCommand(),
			showCommand(),
			listCommand(),
			grepCommand(),
			restoreCommand(),
			acceptCommand(),
			primeCommand(),
			wakeCommand(),
			contextCommand(),
			retryCommand(),
			logCommand(),
			hookCommand(),
		},
	}
}
