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
	"gitagent/internal/hookrun"
	"gitagent/internal/target"
	"gitagent/turns"
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
		Name:  "git-agent-turn",
		Usage: "record, list, show and restore the turns of coding agents",
		Commands: []*cli.Command{
			{
				Name:      "init",
				Usage:     "switch recording on: this repository, and the hooks of the agent's client",
				UsageText: "git agent-turn init [--agent claude|codex|opencode] [--project] [--dry-run] [--remove] [--private] [--push <remote>]",
				Description: "The hooks go into the user's own settings: the client reads a project's only when it is launched " +
					"in the project's top directory. They do nothing in a repository that is not switched on.",
				Flags: []cli.Flag{
					agentFlag(),
					&cli.BoolFlag{Name: "project", Usage: "install the hooks in the repository's settings, for a team"},
					target.DryRunFlag(),
					&cli.BoolFlag{Name: "private", Usage: "keep other users of this machine out of the repository"},
					&cli.StringFlag{Name: "push", Usage: "from now on send what is recorded to `<remote>`; asks first"},
					&cli.BoolFlag{Name: "remove", Usage: "take the hooks out again, and switch this repository off"},
				},
				Action: cmdline.NoArgs(initialise),
			},
			{
				Name:      "start",
				Usage:     "begin a mission on a branch of its own",
				UsageText: "git agent-turn start [--title <text>] [--worktree <dir>] [--from <rev>] [--push] [-- <agent command>...]",
				Description: "The branch is checked out here, or in a new worktree, and every turn moves it. " +
					"With an agent command, that is run there; a session of Claude is known to the mission before it begins.",
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "title", Usage: "call the mission `<text>`"},
					&cli.StringFlag{Name: "worktree", Usage: "check it out in a new worktree at `<dir>`"},
					&cli.StringFlag{Name: "from", Usage: "start at `<rev>`, not at HEAD", Value: "HEAD"},
					&cli.BoolFlag{Name: "push", Usage: "push the mission at once, before its first turn"},
				},
				Action: start,
			},
			{
				Name:      "hook",
				Usage:     "take a hook's payload on standard input; for the agent's client",
				UsageText: "git agent-turn hook [--agent <name>]",
				Flags:     []cli.Flag{agentFlag()},
				Action: func(*cli.Context) error { // reached only with flags that no client gives; see main
					hook(nil)
					return nil
				},
			},
			{
				Name:      "record",
				Usage:     "record a turn by hand, or for an agent without hooks",
				UsageText: "git agent-turn record [--prompt <text>] [--reply <text>] [--transcript <file>] [--session <id>] [--outcome <o>] [--agent <name>]",
				Flags: []cli.Flag{
					target.MissionFlag(),
					&cli.StringFlag{Name: "prompt", Usage: "what the agent was asked: `<text>`"},
					&cli.StringFlag{Name: "reply", Usage: "what it answered: `<text>`"},
					&cli.StringFlag{Name: "transcript", Usage: "the conversation is in `<file>`"},
					&cli.StringFlag{Name: "session", Usage: "the conversation's `<id>`"},
					&cli.StringFlag{Name: "outcome", Usage: "`<outcome>`: done, failed or interrupted", Value: string(turns.Done)},
					&cli.StringFlag{Name: "agent", Usage: "the agent's `<name>`"},
				},
				Action: cmdline.NoArgs(record),
			},
			{
				Name:      "missions",
				Usage:     "list the missions of the repository, newest first",
				UsageText: "git agent-turn missions [--json]",
				Flags:     []cli.Flag{target.JSONFlag()},
				Action:    cmdline.NoArgs(missions),
			},
			{
				Name:      "list",
				Usage:     "list the turns of a mission, newest first",
				UsageText: "git agent-turn list [--mission <id> | --all] [--json]",
				Flags: []cli.Flag{
					target.MissionFlag(),
					&cli.BoolFlag{Name: "all", Usage: "the turns of all missions"},
					target.JSONFlag(),
				},
				Action: cmdline.NoArgs(list),
			},
			{
				Name:      "show",
				Usage:     "show a turn: prompt, reply, tools, what it changed",
				UsageText: "git agent-turn show [--patch | --transcript | --json] [<turn>]",
				Flags: []cli.Flag{
					target.MissionFlag(),
					&cli.BoolFlag{Name: "patch", Aliases: []string{"p"}, Usage: "and its diff"},
					&cli.BoolFlag{Name: "transcript", Usage: "only its part of the conversation, as the client wrote it"},
					target.JSONFlag(),
				},
				BashComplete: completeTurns,
				Action:       cmdline.OptionalArg("turn", show),
			},
			{
				Name:      "diff",
				Usage:     "show what a turn changed, or what lies between two",
				UsageText: "git agent-turn diff [--stat] [<turn> [<turn>]]",
				Flags: []cli.Flag{
					target.MissionFlag(),
					&cli.BoolFlag{Name: "stat", Usage: "only the paths and how much changed in each"},
				},
				BashComplete: completeTurns,
				Action:       diff,
			},
			{
				Name:      "restore",
				Usage:     "make the worktree what it was at the end of a turn",
				UsageText: "git agent-turn restore [--dry-run] <turn>",
				Description: "The present state is recorded first, and its commit printed. HEAD, the branch and the index stay as they are. " +
					"Nothing that is ignored or was left out of that commit is overwritten or deleted.",
				Flags:        []cli.Flag{target.MissionFlag(), target.DryRunFlag()},
				BashComplete: completeTurns,
				Action:       cmdline.OneArg("turn", restore),
			},
			{
				Name:      "doctor",
				Usage:     "check what recording needs, and say what is in the way",
				UsageText: "git agent-turn doctor [--remote <remote>]",
				Description: "Prints versions, hooks, configuration with the origin of every value, sizes, and the last errors of hooks. " +
					"The exit status is 1 if something keeps turns from being recorded.",
				Flags:  []cli.Flag{&cli.StringFlag{Name: "remote", Usage: "only try what `<remote>` does with our refs, by pushing an empty one"}},
				Action: cmdline.NoArgs(doctor),
			},
			{
				Name:      "tree",
				Usage:     "list missions and, below each, its forks",
				UsageText: "git agent-turn tree",
				Action:    cmdline.NoArgs(tree),
			},
			{
				Name:      "trust",
				Usage:     "whose records may be used: the keys you trust, and missions you accept",
				UsageText: "git agent-turn trust",
				Description: "Lists the keys. What they have signed counts as what was recorded here; everything else that a remote " +
					"brings is a stranger's, which no agent is told and nothing forks before a person has looked at it.",
				Action: cmdline.NoArgs(trustList),
				Subcommands: []*cli.Command{
					{
						Name:        "add",
						Usage:       "trust a key",
						UsageText:   "git agent-turn trust add <name> <public key or file>",
						Description: "The other machine prints its public key with git agent-turn trust key.",
						Action:      cmdline.Args(2, 4, "a name and a public key", trustAdd),
					},
					{
						Name:        "remove",
						Usage:       "trust a key no longer",
						UsageText:   "git agent-turn trust remove <name>",
						Description: "All that it has signed is a stranger's then, whenever it was signed.",
						Action:      cmdline.OneArg("name", trustRemove),
					},
					{
						Name:      "key",
						Usage:     "print the public key of this machine",
						UsageText: "git agent-turn trust key",
						Action:    cmdline.NoArgs(trustKey),
					},
					{
						Name:        "accept",
						Usage:       "look at a stranger's mission, and accept it as it is now",
						UsageText:   "git agent-turn trust accept <mission>...",
						Description: "It asks on a terminal. An agent can't answer.",
						Action:      cmdline.Args(1, 1000, "missions", trustAccept),
					},
				},
			},
			{
				Name:      "push",
				Usage:     "send missions to a remote",
				UsageText: "git agent-turn push [--mission <id>] [<remote>]",
				Description: "Sends what the remote lacks, of every mission or of one, to a remote that was named with " +
					"git agent-turn init --push <remote>; without an argument to every such remote.",
				Flags: []cli.Flag{
					target.MissionFlag(),
					&cli.BoolFlag{Name: "queued", Usage: "what the hooks have left; started by them", Hidden: true},
				},
				Action: cmdline.OptionalArg("remote", push),
			},
			{
				Name:      "fetch",
				Usage:     "bring missions from a remote",
				UsageText: "git agent-turn fetch [--mission <id>] [<remote>]",
				Description: "Brings what is not here, of every mission or of one. A mission that has gone on both here and there becomes two; " +
					"nothing is overwritten, and a branch that is checked out stays where it is.",
				Flags:  []cli.Flag{target.MissionFlag()},
				Action: cmdline.OptionalArg("remote", fetch),
			},
			{
				Name:      "remove",
				Usage:     "remove a mission: worktree, branch, notes and ledger",
				UsageText: "git agent-turn remove [--force] [--dry-run] <mission>",
				Flags: []cli.Flag{
					&cli.BoolFlag{Name: "force", Usage: "even if changes that are not committed, or commits of yours, are lost"},
					target.DryRunFlag(),
				},
				Action: cmdline.OneArg("mission", remove),
			},
			{
				Name:      "prune",
				Usage:     "remove the missions that nothing has happened in for long",
				UsageText: "git agent-turn prune --older-than <age> [--dry-run]",
				Description: "An age is a number and a unit: 90d, 12w, 6h. " +
					"A mission whose worktree has changes, or is the one the command runs in, stays, " +
					"and so does one whose branch has commits of yours that are in no other branch.",
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "older-than", Usage: "whose last turn is older than `<age>`"},
					target.DryRunFlag(),
				},
				Action: cmdline.NoArgs(prune),
			},
			{
				Name:      "demo",
				Usage:     "record, list, fork and hand off a session in a throw-away repository",
				UsageText: "git agent-turn demo",
				Description: "Replays a recorded session of five turns, hook by hook, as the agent's client sends them. " +
					"Nothing outside a temporary directory is touched, and no agent is run.",
				Action: cmdline.NoArgs(demo),
			},
			{
				Name:   "housekeep",
				Usage:  "roll up small packs and forget old sessions; started by the hooks",
				Hidden: true,
				Action: cmdline.NoArgs(keepHouse),
			},
		},
	}
}

func agentFlag() cli.Flag {
	return &cli.StringFlag{Name: "agent", Usage: "the agent is `<name>`: claude, codex or opencode", Value: "claude"}
}

func completeTurns(c *cli.Context) { target.CompleteTurns(c, c.String("mission")) }
