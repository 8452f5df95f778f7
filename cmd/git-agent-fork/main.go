// Git-agent-fork goes back to a turn of an agent and starts something else
// there, with the code and the conversation.
//
// Usage:
//
//	git agent-fork [<mission>[/<turn>] | <commit>]
//	git agent-fork compare [<fork>... | <turn>]
//	git agent-fork adopt <fork>
//
// Without a turn it opens a finder on the terminal. docs/git-agent-fork.1 and
// the pages that it lists describe the commands and the exit status.
package main

import (
	"context"
	"os"
	"runtime/debug"
	"slices"

	"github.com/urfave/cli/v2"

	"gitagent/internal/agent"
	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/git"
	"gitagent/internal/limit"
)

func main() { execute(limit.With(context.Background(), limit.Default())) }

// execute is main with the limits of ctx.
func execute(ctx context.Context) {
	debug.SetGCPercent(400) // the process is short-lived, and a conversation has megabytes
	app := newApp()
	if len(os.Args) > 1 && os.Args[1] == "page" {
		app = pageApp()
		os.Args[0] = app.Name // which warnings begin with
	}
	cmdline.Main(ctx, app, command.Manual, command.Damaged, git.ErrNotFound)
}

func run(c *cli.Context) error {
	if c.IsSet("choose") {
		return choose(c)
	}
	return fork(c)
}

// alone refuses the program's own flags, for forking a turn, with a command.
func alone(action cli.ActionFunc) cli.ActionFunc {
	return func(c *cli.Context) error {
		if wrong := c.Lineage()[1].LocalFlagNames(); len(wrong) > 0 {
			return cmdline.Hintf(cmdline.Usagef("--%s is for forking a turn, not for %s", wrong[0], c.Command.Name),
				"list the flags with: %s -h", c.Command.HelpName)
		}
		return action(c)
	}
}

func commands() []*cli.Command {
	return slices.Concat(cmdline.Group(cmdline.LookBack, compareCommand()), cmdline.Group(cmdline.GoOn, adoptCommand()))
}

func newApp() *cli.App {
	return command.Guarded(&cli.App{
		Name:      "git-agent-fork",
		Usage:     "go back to a turn of an agent and try something else",
		ArgsUsage: "[<mission>[/<turn>] | <commit>]",
		Flags: slices.Concat([]cli.Flag{
			command.MissionFlag(),
			&cli.BoolFlag{Name: "all", Usage: "choose among the turns of all missions"},
			&cli.BoolFlag{Name: "before", Usage: "the state in which the turn started, and its prompt to replay it"},
			&cli.StringFlag{Name: "title", Usage: "call the new mission `<text>`"},
			&cli.IntFlag{Name: "times", Usage: "make `<n>` forks of the turn", Value: 1},
			cmdline.Repeated(&cli.StringSliceFlag{Name: "prompt", Usage: "start with `<text>`; several are for one fork each"}),
			cmdline.OneOf(cmdline.Repeated(&cli.StringSliceFlag{
				Name: "agent", Usage: "go on with `<name>`, not with the turn's agent; several are for one fork each",
			}), agent.Programs()...),
			&cli.StringFlag{Name: "worktree", Usage: "check it out in `<dir>`"},
			&cli.BoolFlag{Name: "no-worktree", Usage: "make the branch, but no worktree"},
			&cli.BoolFlag{Name: "launch", Usage: "start the agent there"},
			&cli.BoolFlag{Name: "print", Usage: "print what was made as a JSON object"},
			&cli.BoolFlag{Name: "no-conversation", Usage: "leave the conversation behind"},
			// Other programs use these to get the name of the chosen turn.
			&cli.StringFlag{Name: "choose", Hidden: true, Usage: "what is done with it: `<verb>`"},
			&cli.BoolFlag{Name: "among", Hidden: true, Usage: "among those that standard input names"},
			&cli.BoolFlag{Name: "push", Usage: "push the new mission at once, before its first turn"},
		}, command.IncludeFlags(), command.SetupFlags()),
		Commands: commands(),
		BashComplete: command.First(func(c *cli.Context) {
			cmdline.CompleteCommands(c)
			command.CompleteTurns(c)
		}),
		Action: run,
	})
}
