package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"gitagent/hooks"
	"gitagent/internal/agent"
	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/git"
	"gitagent/internal/places"
	"gitagent/internal/remote"
	"gitagent/internal/workspace"
)

func initCommand() *cli.Command {
	return &cli.Command{
		Name:  "init",
		Usage: "switch recording on: this repository, and the hooks of the agents' clients",
		UsageText: "git agent-turn init [--agent <name>]... [--project] [--dry-run] [--remove] [--private] [--push <remote>] [--alias] [--recall]\n" +
			"git agent-turn init --global [--except <pattern>]... [--agent <name>]... [--dry-run] [--remove] [--recall]",
		Description: "The hooks go into the user's own settings, of every agent that is installed here; on a terminal it asks for which if there " +
			"are several. They do nothing in a repository that is not switched on.\n\n" +
			"With --global all repositories of yours are on, but for those that an exception names, as git's includeIf does: " +
			"gitdir:~/clients/secret/, gitdir/i:..., hasconfig:remote.*.url:https://corp.example/**. Never on in this way are repositories " +
			"of somebody else, below a directory for temporary files, bare ones, and the home directory. It takes over from git config --global agent.record. One repository is switched " +
			"off with: git config agent.record false",
		Flags: []cli.Flag{
			cmdline.OneOf(cmdline.Repeated(&cli.StringSliceFlag{
				Name: "agent", Usage: "only the hooks of `<name>`: " + command.OneOf(agent.Programs()) + "; may be repeated",
			}), agent.Programs()...),
			&cli.BoolFlag{Name: "project", Usage: "install the hooks in the repository's settings, for a team"},
			command.DryRunFlag(),
			&cli.BoolFlag{Name: "private", Usage: "keep other users of this machine out of the repository"},
			command.RemoteFlag("push", "from now on send what is recorded to `<remote>`; asks first"),
			&cli.BoolFlag{Name: "alias", Usage: "make git la, which is git log --all without what git-agent keeps"},
			&cli.BoolFlag{Name: "recall", Usage: "tell agents what was given up in a file before they edit it, in all repositories of yours"},
			&cli.BoolFlag{Name: "global", Usage: "switch recording on in all repositories of yours"},
			cmdline.Repeated(&cli.StringSliceFlag{Name: "except", Usage: "with --global, not in repositories that match `<pattern>`; may be repeated"}),
			&cli.BoolFlag{Name: "remove", Usage: "take the hooks and git la out again, and switch this repository off; with --global, what that has switched on"},
		},
		Action: cmdline.NoArgs(initialise),
	}
}

func initialise(c *cli.Context) error {
	named, err := namedAgents(c.StringSlice("agent"))
	if err != nil {
		return err
	}
	if err := asHook(); err != nil {
		return err
	}
	recalls, err := planRecall(c)
	if err != nil {
		return err
	}
	if c.Bool("dry-run") && recalls != nil && recalls.Changes() {
		if err := diffTexts(c, git.Nowhere(), recalls); err != nil {
			return err
		}
	}
	if c.Bool("global") {
		return initEverywhere(c, named)
	}
	if c.IsSet("except") {
		return cmdline.Usagef("--except goes with --global; to switch off this repository alone: git config agent.record false")
	}
	w, err := command.Checkout(c.Context, "record")
	if err != nil {
		return refusal(c.Context, err)
	}
	remove, dry := c.Bool("remove"), c.Bool("dry-run")
	for _, flag := range []string{"private", "push", "alias"} {
		if c.IsSet(flag) && (remove || dry) {
			return cmdline.Usagef("--%s does not go with --remove or --dry-run", flag)
		}
	}
	// Everything that can be wrong is found before anything changes.
	conf, err := w.Repo.Config(c.Context)
	if err == nil && !remove {
		if err = conf.Supported(); err == nil {
			err = refusal(c.Context, nil)
		}
	}
	if err != nil {
		return err
	}
	setups, err := planSetups(c, w, named)
	if err != nil {
		return err
	}
	all := remove && len(named) == 0 && !c.Bool("project") // of what init has made, for all agents
	if dry {
		return preview(c, w, setups, remove, all)
	}
	if c.Bool("alias") {
		if err := aliasFree(c, w); err != nil {
			return err
		}
	}
	if c.IsSet("push") {
		if err := allowPush(c, w, c.String("push")); err != nil {
			return err
		}
	}
	if c.Bool("alias") {
		if err := makeAlias(c, w); err != nil {
			return err
		}
	}
	for _, s := range setups {
		if err := s.apply(c, w, len(setups) > 1, remove); err != nil {
			return err
		}
	}
	if !remove {
		if err := makeKey(c.Context, conf.Get("user.email"), c.App.Writer); err != nil {
			return err
		}
	}
	if all {
		if err := dropAlias(c, w); err != nil {
			return err
		}
	}
	switched, err := w.Switch(!remove)
	if err != nil {
		return err
	}
	if known := places.Of(os.Getenv); remove {
		known.Tidy()
	} else if err := known.NoteRepository(w.Repo.CommonDir); err != nil {
		cmdline.Warn(err) // recording is on, and a session notes it again
	}
	if err := switchRecall(c); err != nil {
		return err
	}
	say(c, switched, w.Repo.Top, map[bool]string{true: "recording switched off in", false: "recording switched on in"}[remove])
	if err := sayOtherwise(c, w, remove); err != nil {
		return err
	}
	if all {
		return sayLeft(c, w)
	}
	if remove {
		return nil
	}
	for _, s := range setups {
		if notice := s.agent.Notice; notice != "" && s.unsettled(w) {
			fmt.Fprintln(c.App.ErrWriter, notice)
		}
		s.sayOffer(c)
	}
	if err := keepPrivate(c, w); err != nil {
		return err
	}
	names, err := remote.Names(c.Context, w.Repo)
	if err != nil {
		return err
	}
	for _, name := range names {
		if text, remedy := movesRefs(conf, w, name); text != "" {
			cmdline.Warn(cmdline.Hint(errors.New(text), "leave them out: "+remedy))
		}
	}
	if text, remedy := displaysNotes(c.Context, w.Repo, conf); text != "" {
		cmdline.Warn(cmdline.Hint(errors.New(text), "leave them out: "+remedy))
	}
	return begin(c, w)
}

// sayLeft reports what stays after init was undone.
func sayLeft(c *cli.Context, w *workspace.Workspace) error {
	if _, err := os.Lstat(w.Store.Dir().Path(".")); err == nil {
		fmt.Fprintln(c.App.ErrWriter, "what was recorded here stays; to remove that, too: git agent-turn remove --all")
	}
	conf, err := w.Repo.ConfigFile(c.Context, filepath.Join(w.Repo.CommonDir, "config"))
	if err == nil && conf.Shared() == git.OwnerOnly {
		fmt.Fprintf(c.App.ErrWriter, "other users of this machine are still kept out of %s; to have git's usual permissions for what is new: git config --unset core.sharedRepository\n", cmdline.Escape(w.Repo.CommonDir))
	}
	return errors.Join(err, sayAtHome(c))
}

// begin says how to go on after init. In a clone without missions it asks
// whether to fetch, and uses no network before the answer.
func begin(c *cli.Context, w *workspace.Workspace) error {
	s, err := command.Look(c.Context, w)
	if err != nil {
		return err
	}
	if s.Missions == 0 && s.Remote != "" && cmdline.CanAsk() {
		question := fmt.Sprintf("Fetch what was recorded elsewhere from %s?", cmdline.Escape(s.Remote))
		answer, err := cmdline.Ask(c.Context, question, "yes", "no")
		if err != nil {
			return err
		}
		if answer == "yes" {
			if err := fetchNow(c, w, s.Remote); err != nil {
				cmdline.Warn(err) // recording is on in any case
			}
			if s, err = command.Look(c.Context, w); err != nil {
				return err
			}
		}
	}
	steps := s.Begin()
	if s.Missions > 0 {
		if err := s.LookBack(c.Context, w); err != nil {
			cmdline.Warn(err) // recording is on
		}
		steps = append([]command.Step{steps[0], {Aim: "what was recorded so far", Command: "git agent-turn missions"}}, s.Import()...)
	}
	return printSteps(c.App.Writer, steps)
}

func fetchNow(c *cli.Context, w *workspace.Workspace, name string) error {
	r, err := openRemote(c.Context, w, name)
	if err != nil {
		return err
	}
	return fetchFrom(c, r, nil)
}

func say(c *cli.Context, changed bool, where, what string) {
	if !changed {
		what = "no change: " + what
	}
	fmt.Fprintf(c.App.Writer, "%s %s\n", what, cmdline.Escape(where))
}

// preview shows what init would do, settings as diffs.
func preview(c *cli.Context, w *workspace.Workspace, setups []setup, remove, all bool) error {
	for _, s := range setups {
		switch {
		case s.plugin != "":
			s.sayPlugin(c)
		case !s.edit.Changes():
			say(c, false, s.edit.Path, "settings")
			s.sayStay(c)
		default:
			if err := diffTexts(c, w.Repo, s.edit); err != nil {
				return err
			}
			s.sayStay(c)
		}
	}
	if all {
		file, err := aliasFile(c, w)
		if err != nil {
			return err
		}
		if file != "" {
			say(c, true, file, "would remove git "+aliasName+" from")
		}
	}
	if w.Switched() == remove {
		say(c, true, w.Repo.Top, map[bool]string{true: "would switch recording off in", false: "would switch recording on in"}[remove])
	}
	return nil
}

func diffTexts(c *cli.Context, repo *git.Repo, edit *hooks.Edit) error {
	dir, err := os.MkdirTemp("", "git-agent-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	before, after := filepath.Join(dir, "before"), filepath.Join(dir, "after")
	if err := os.WriteFile(before, edit.Before, 0o600); err != nil {
		return err
	}
	if err := os.WriteFile(after, edit.After, 0o600); err != nil {
		return err
	}
	out, err := repo.Output(c.Context, nil, "diff", "--no-index", "--", before, after)
	if err != nil && git.Status(err) != 1 {
		return err
	}
	_, hunks, found := strings.Cut(string(out), "\n@") // the header names temporary files
	if found {
		hunks = "@" + hunks
	}
	_, err = fmt.Fprintf(c.App.Writer, "--- %[1]s\n+++ %[1]s\n%[2]s", cmdline.Escape(edit.Path), cmdline.EscapeLines(hunks))
	return err
}
