// Git-agent-turn records the turns of coding agents as git objects, notes and refs,
// and lists, shows, compares and restores them.
//
// It is run by git as `git agent-turn`, and by the hooks of an agent's client.
// The commands and their flags are described in docs/git-agent-turn.1.
package main

import (
	"os"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/git"
)

func main() {
	// A hook has its own rules: whatever its arguments and whatever breaks, it exits with 0.
	// Where it works is in its payload, so -C does not matter.
	args := os.Args[1:]
	for len(args) > 2 && args[0] == "-C" {
		args = args[2:]
	}
	if len(args) > 0 && args[0] == "hook" {
		hook(args[1:])
		os.Exit(0)
	}
	cmdline.Main(newApp(), git.ErrNotFound)
}

func newApp() *cli.App {
	return &cli.App{
		Name:  "git-agent-turn",
		Usage: "record, list, show and restore the turns of coding agents",
		Commands: []*cli.Command{
			initCommand(),
			startCommand(),
			hookCommand(),
			recordCommand(),
			missionsCommand(),
			listCommand(),
			showCommand(),
			diffCommand(),
			restoreCommand(),
			doctorCommand(),
			treeCommand(),
			removeCommand(),
			pruneCommand(),
			demoCommand(),
			housekeepCommand(),
		},
	}
}
