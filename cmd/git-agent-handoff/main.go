// Git-agent-handoff carries an agent's work from one session to the next.
//
// Usage:
//
//	git agent-handoff <command>
//
// None of its commands is built yet.
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
	command := func(name, usage string) *cli.Command {
		return &cli.Command{Name: name, Usage: usage, Action: notBuilt, SkipFlagParsing: true}
	}
	return &cli.App{
		Name:        "git-agent-handoff",
		Usage:       "carry an agent's work from one session to the next",
		Description: "None of the commands is built yet.",
		Commands: []*cli.Command{
			command("write", "hand off, with a document"),
			command("gather", "hand off what can be known from outside"),
			command("show", "show a handoff"),
			command("list", "list the handoffs"),
			command("grep", "search the handoffs"),
			command("restore", "restore what a handoff left uncommitted"),
			command("accept", "let a handoff that came from elsewhere into the context"),
			command("prime", "print the text for the next session"),
			command("wake", "print the wake message, or type it"),
			command("context", "tell how full an agent's context is"),
			command("retry", "run an agent until a check succeeds"),
			command("log", "keep a complete log of the terminal"),
			command("hook", "read a hook payload on standard input"),
		},
	}
}

func notBuilt(*cli.Context) error {
	return errors.New("not built yet")
}
