// Git-agent-turn records the turns of coding agents as git objects, notes and
// refs, and lists, shows, compares and restores them.
//
// Git runs it as `git agent-turn`, and an agent's client as its hook.
// docs/git-agent-turn.1 and the pages that it lists describe the commands.
package main

import (
	"context"
	"os"
	"slices"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/git"
	"gitagent/internal/hook"
	"gitagent/internal/limit"
)

func main() { execute(limit.With(context.Background(), limit.Default())) }

// execute is main with the limits of ctx.
func execute(ctx context.Context) {
	if args, ok := hook.IsHook(os.Args[1:]); ok {
		hook.Run(ctx, hook.Turn, args)
		return
	}
	cmdline.Main(ctx, newApp(), command.Manual, command.Damaged, git.ErrNotFound)
}

func newApp() *cli.App {
	return command.Guarded(&cli.App{
		Name:   "git-agent-turn",
		Usage:  "record, list, show and restore the turns of coding agents",
		Action: overview,
		Flags:  []cli.Flag{command.NoPagerFlag()},
		Commands: slices.Concat(
			cmdline.Group(cmdline.LookBack,
				missionsCommand(),
				listCommand(),
				showCommand(),
				searchCommand(),
				diffCommand(),
				logCommand(),
				blameCommand(),
				whyCommand(),
				recallCommand(),
				summaryCommand(),
				pageCommand(),
				reviewedCommand(),
			),
			cmdline.Group(cmdline.GoBack,
				restoreCommand(),
				revertCommand(),
				undoCommand(),
				bisectCommand(),
			),
			cmdline.Group(cmdline.GoOn,
				startCommand(),
				finishCommand(),
				recordCommand(),
			),
			cmdline.Group(cmdline.Share,
				pushCommand(),
				fetchCommand(),
				trustCommand(),
				exportCommand(),
			),
			cmdline.Group(cmdline.KeepInOrder,
				initCommand(),
				importCommand(),
				doctorCommand(),
				archiveCommand(),
				removeCommand(),
				purgeCommand(),
				demoCommand(),
				hook.Command(hook.Turn, command.AgentFlag()),
			),
			[]*cli.Command{housekeepCommand()},
			movedCommands(),
		),
	})
}

func completeRanges(c *cli.Context) { command.First(command.CompleteRanges)(c) }

func completeTurns(c *cli.Context) { command.First(command.CompleteTurns)(c) }
