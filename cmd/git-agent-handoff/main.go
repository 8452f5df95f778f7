// Git-agent-handoff carries an agent's work from one session to the next.
//
// Git runs it as `git agent-handoff`, and an agent's client as its hook.
// docs/git-agent-handoff.1 and the pages that it lists describe the commands.
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
	"gitagent/internal/record"
)

func main() { execute(limit.With(context.Background(), limit.Default())) }

// execute is main with the limits of ctx.
func execute(ctx context.Context) {
	if args, ok := hook.IsHook(os.Args[1:]); ok {
		hook.Run(ctx, hook.Handoff, args)
		return
	}
	cmdline.Main(ctx, newApp(), command.Manual, command.Damaged, git.ErrNotFound)
}

func newApp() *cli.App {
	return command.Guarded(&cli.App{
		Name:  "git-agent-handoff",
		Usage: "carry an agent's work from one session to the next",
		Flags: []cli.Flag{command.NoPagerFlag()},
		Commands: slices.Concat(
			cmdline.Group(cmdline.LookBack, lookBack()...),
			cmdline.Group(cmdline.GoBack, goBack()...),
			cmdline.Group(cmdline.GoOn, goOn()...),
			cmdline.Group(cmdline.KeepInOrder, keepInOrder()...),
			movedCommands(),
		),
	})
}

func lookBack() []*cli.Command {
	return []*cli.Command{
		{
			Name:      "show",
			Usage:     "show a handoff",
			UsageText: "git agent-handoff show [--document | --patch | --terminal | --conversation [--full] | --json] [<handoff>]",
			Flags: []cli.Flag{
				command.MissionFlag(),
				&cli.BoolFlag{Name: "document", Usage: "only the document"},
				&cli.BoolFlag{Name: "patch", Usage: "only what was not committed"},
				&cli.BoolFlag{Name: "terminal", Usage: "only the snapshot of the terminal"},
				&cli.BoolFlag{Name: "conversation", Usage: "only the conversation that led to it, for reading"},
				&cli.BoolFlag{Name: "full", Usage: "with --conversation, without leaving out or folding anything"},
				command.JSONFlag(),
			},
			BashComplete: command.First(completeHandoffs),
			Action:       command.Paged(cmdline.OptionalArg("handoff", show)),
		},
		{
			Name:      "list",
			Usage:     "list the handoffs of a mission, newest first",
			UsageText: "git agent-handoff list [--mission <id> | --all] [--ends] [--json]",
			Flags: []cli.Flag{
				command.MissionFlag(),
				&cli.BoolFlag{Name: "all", Usage: "the handoffs of all missions"},
				&cli.BoolFlag{Name: "ends", Usage: "on a terminal, also clean ends for which nothing was written"},
				command.JSONFlag(),
			},
			Action: command.Paged(cmdline.NoArgs(list)),
		},
		{
			Name:      "grep",
			Usage:     "search a handoff: document, record, patch, snapshot and log of the terminal",
			UsageText: "git agent-handoff grep [--ignore-case] [--mission <id>] [--handoff <n>] <pattern>",
			Description: "A pattern is a regular expression of Go's regexp package. Each line says where it was found and at which line. " +
				"The exit status is 3 if nothing was. What was said in turns is searched by git agent-turn search.",
			Flags: []cli.Flag{
				command.MissionFlag(),
				&cmdline.CompletedFlag{DocGenerationFlag: &cli.StringFlag{Name: "handoff", Usage: "search `<handoff>`, not the last one"}, Values: completeHandoffs},
				&cli.BoolFlag{Name: "ignore-case", Aliases: []string{"i"}, Usage: "upper and lower case are the same"},
			},
			Action: cmdline.OneArg("pattern", grep),
		},
	}
}

func goBack() []*cli.Command {
	return []*cli.Command{
		{
			Name:      "restore",
			Usage:     "bring back what a handoff left uncommitted",
			UsageText: "git agent-handoff restore [--dry-run] [--mission <id>] [<handoff>]",
			Description: "It is merged into what is checked out in the worktree; what conflicts is named. " +
				"The present state is recorded first, and its commit printed. HEAD, the branch and the index stay as they are.",
			Flags:        []cli.Flag{command.MissionFlag(), command.DryRunFlag()},
			BashComplete: command.First(completeHandoffs),
			Action:       cmdline.OptionalArg("handoff", restore),
		},
	}
}

func goOn() []*cli.Command {
	return []*cli.Command{
		{
			Name:  "write",
			Usage: "hand off, with a document that the agent wrote or what can be known without one",
			UsageText: "git agent-handoff write [--summary <text>] [--question <text>]... [--log <file>] [--tmux <target>] [--wake] [<file> | -]\n" +
				"git agent-handoff write --exit-type <type> [--mission <id>] [--agent <id>] [--tmux <target>]",
			Description: "The document, or the summary, is what the next session is told first. " +
				"Beside it goes what can be known from outside: commits, uncommitted changes, the last turn, todos. " +
				"Without either that is all, for a supervisor, before it removes a worktree: what is not committed is kept, " +
				"what the session has written itself stays, and a crash does not replace a clean end that is a few minutes old.",
			Flags: []cli.Flag{
				command.MissionFlag(),
				exitTypeFlag(string(record.Clean)),
				agentFlag(),
				&cli.StringFlag{Name: "summary", Usage: "what was done and what is next: `<text>`"},
				cmdline.Repeated(&cli.StringSliceFlag{Name: "question", Usage: "a question that is open: `<text>`; may be repeated"}),
				&cli.StringFlag{Name: "log", Usage: "a complete log of the terminal is in `<file>`"},
				snapshotFlag(),
				&cli.BoolFlag{Name: "wake", Usage: "when this turn has ended, clear the agent's context and tell it to go on"},
			},
			BashComplete: command.First(cmdline.ProposeFiles),
			Action:       cmdline.OptionalArg("document", write),
		},
		{
			Name:         "prime",
			Usage:        "print what the next session is told",
			UsageText:    "git agent-handoff prime [--mission <id>] [<handoff>]",
			Description:  "It has at most 9,000 characters, the essential first. An untrusted handoff has to be accepted first.",
			Flags:        []cli.Flag{command.MissionFlag()},
			BashComplete: command.First(completeHandoffs),
			Action:       cmdline.OptionalArg("handoff", prime),
		},
		{
			Name:      "wake",
			Usage:     "print what to tell the next session, or clear an agent's context and tell it",
			UsageText: "git agent-handoff wake [--mission <id>] [--tmux <target>]",
			Description: "With --tmux it types /clear and the message into the pane, as soon as the agent has ended its turn; " +
				"never into a dialog, into a draft, or where another program has the keyboard.",
			Flags: []cli.Flag{
				command.MissionFlag(),
				&cli.StringFlag{Name: "tmux", Usage: "clear and wake the agent in the pane `<target>`, as tmux names it"},
			},
			Action: cmdline.NoArgs(wakeAgent),
		},
		{
			Name:      "context",
			Usage:     "tell how full an agent's context is",
			UsageText: "git agent-handoff context [--json] [<session>]",
			Description: "Without a session it is the one whose agent runs the command, or the last one in this worktree. " +
				"How much fits is what the client or the configuration says, or what was learned from compactions.",
			Flags: []cli.Flag{
				&cli.BoolFlag{Name: "calibrate", Hidden: true},
				&cli.BoolFlag{Name: "write", Hidden: true},
				command.JSONFlag(),
			},
			Action: contextAction,
		},
		{
			Name:      "retry",
			Usage:     "run an agent until it succeeds; each attempt is told what went wrong in the last one",
			UsageText: "git agent-handoff retry [--attempts <n>] [--tail <bytes>] [--check <command>] -- <agent command>...",
			Description: "The prompt is what comes on standard input, if that is not a terminal; it goes to the agent in the place of {prompt} in its " +
				"arguments, or on its standard input. Behind the prompt the next attempt finds why the last one failed.",
			Flags: []cli.Flag{
				&cli.IntFlag{Name: "attempts", Usage: "give up after `<n>` attempts", Value: 3},
				&cli.IntFlag{Name: "tail", Usage: "tell the last `<bytes>` that an attempt has printed; 0 for none"},
				&cli.StringFlag{Name: "check", Usage: "an attempt has failed if the shell's `<command>` does"},
			},
			Action: retryAction,
		},
	}
}

func keepInOrder() []*cli.Command {
	return []*cli.Command{
		{
			Name:      "log",
			Usage:     "keep a complete log of the terminal, and read it",
			UsageText: "git agent-handoff log (start | show) [<file>]",
			Subcommands: []*cli.Command{{
				Name:      "start",
				Usage:     "begin to log a pane of tmux",
				UsageText: "git agent-handoff log start [--tmux <target>] [<file>]",
				Description: "From now on tmux appends everything that is printed in the pane to the file, whose name is printed. " +
					"Only you can read it, and nothing in it is redacted.",
				Flags:        []cli.Flag{&cli.StringFlag{Name: "tmux", Usage: "log the pane `<target>`, as tmux names it, instead of this one"}},
				BashComplete: command.First(cmdline.ProposeFiles),
				Action:       cmdline.OptionalArg("file", logStart),
			}, {
				Name:      "show",
				Usage:     "print the log of a terminal as text",
				UsageText: "git agent-handoff log show [<file>]",
				Description: "The file holds the bytes that programs sent to the terminal, as log start or tmux pipe-pane keeps them. " +
					"Printed is what a person saw, with what scrolled off. Without a file it is the log of this pane.",
				BashComplete: command.First(cmdline.ProposeFiles),
				Action:       cmdline.OptionalArg("file", logShow),
			}},
			Action: func(c *cli.Context) error {
				if c.NArg() > 0 {
					return cmdline.Usagef("unknown command %q", c.Args().First())
				}
				return cmdline.Usagef("log needs a command: start or show")
			},
		},
		hook.Command(hook.Handoff, command.AgentFlag()),
	}
}

func exitTypeFlag(value string) cli.Flag {
	return cmdline.OneOf(&cli.StringFlag{Name: "exit-type", Usage: "how the session ends: `<type>`, one of clean, crash, killed", Value: value},
		"clean", "crash", "killed")
}

func agentFlag() cli.Flag {
	return &cli.StringFlag{Name: "agent", Usage: "the agent that hands off is `<id>`"}
}

func snapshotFlag() cli.Flag {
	return &cli.StringFlag{Name: "tmux", Usage: "the agent's terminal is the pane of tmux `<target>`, of which a snapshot is kept"}
}
