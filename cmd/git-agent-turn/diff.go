package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

func diffCommand() *cli.Command {
	return &cli.Command{
		Name:      "diff",
		Usage:     "show what a turn changed, or what lies between two",
		UsageText: "git agent-turn diff [<options>] [-i | --unreviewed | <state> [<state>] | <state>..<state>] [-- <path>...]",
		Flags: []cli.Flag{
			command.MissionFlag(),
			command.ChooseFlag(),
			&cli.BoolFlag{Name: "unreviewed", Usage: "what came since the last turn that somebody has reviewed"},
			&cli.BoolFlag{Name: "all", Usage: "what others changed in the turn, too, and what may be theirs"},
			&cli.BoolFlag{Name: "patch", Aliases: []string{"p"}, Usage: "the changed lines, which is the default"},
			&cli.UintFlag{Name: "unified", Aliases: []string{"U"}, Usage: "with `<n>` lines around them"},
			&cli.BoolFlag{Name: "word-diff", Usage: "the changed words: [-removed-]{+added+}"},
			&cli.BoolFlag{Name: "ignore-all-space", Aliases: []string{"w"}, Usage: "changes of white space are none"},
			&cli.BoolFlag{Name: "stat", Usage: "only the paths and how much changed in each"},
			&cli.BoolFlag{Name: "name-only", Usage: "only the paths"},
			&cli.BoolFlag{Name: "name-status", Usage: "only the paths, and what became of each"},
		},
		BashComplete: completeDiff,
		Action:       command.Paged(cmdline.WithPaths(command.Choosing("diff", diff))),
	}
}

func completeDiff(c *cli.Context) {
	switch c.NArg() {
	case 0:
		command.CompleteRanges(c)
	case 1:
		command.CompleteTurns(c)
	}
}

func diff(c *cli.Context) error {
	if c.NArg() > 2 {
		return cmdline.Hint(cmdline.Usagef("diff takes two states at most, not %d", c.NArg()), "paths come after --")
	}
	if c.Bool("unreviewed") && (c.NArg() > 0 || c.Bool("all")) {
		return cmdline.Usagef("--unreviewed and states or --all exclude each other")
	}
	if c.Bool("name-only") && c.Bool("name-status") {
		return cmdline.Usagef("--name-only and --name-status exclude each other")
	}
	w, err := command.Workspace(c.Context)
	if err != nil {
		return err
	}
	from, to, err := diffed(c, w)
	if err != nil || from == to && c.Bool("unreviewed") {
		return err
	}
	var options []string
	for _, name := range []string{"patch", "word-diff", "ignore-all-space", "stat", "name-only", "name-status"} {
		if c.Bool(name) {
			options = append(options, "--"+name)
		}
	}
	if c.IsSet("unified") {
		options = append(options, fmt.Sprintf("--unified=%d", c.Uint("unified")))
	}
	return diffTrees(c, w.Repo.With(git.Here), from, to, options, cmdline.Paths(c)...)
}

// diffed returns the commits that a command line names: two states, a range, a
// turn's start and end, or what was saved and the turn before it.
func diffed(c *cli.Context, w *workspace.Workspace) (from, to object.Hash, err error) {
	mission, first, talk := c.String("mission"), c.Args().First(), c.App.ErrWriter
	if c.Bool("unreviewed") {
		return diffedUnreviewed(c, w)
	}
	if c.NArg() == 2 {
		a, err := command.State(c.Context, w, mission, first, talk)
		if err != nil {
			return from, to, err
		}
		b, err := command.State(c.Context, w, string(a.In), c.Args().Get(1), talk)
		if err != nil {
			return from, to, err
		}
		return a.Commit, b.Commit, known(a, b)
	}
	a, b, isRange, err := command.Range(c.Context, w, mission, first, talk)
	switch {
	case err != nil:
		return from, to, err
	case isRange:
		return a.Commit, b.Commit, known(a, b)
	case b.Worktree != "" && !b.Start:
		start, err := b.Turn.Worktree(b.Worktree, true)
		if err != nil {
			return from, to, err
		}
		return start.Commit, b.Commit, nil
	case b.Start || b.Step > 0 || b.Turn == nil:
		return from, to, cmdline.Hint(cmdline.Usagef("%s is one state, and two are compared", b.Describe()), "name another one, too, or a turn")
	case b.Saved:
		return b.Turn.Code, b.Commit, known(b.Turn.After())
	case c.Bool("all"):
		return b.Turn.Before().Commit, b.Commit, known(b)
	}
	own := b.Turn.Change()
	tellBeside(talk, w, b, own)
	if err := b.Turn.Before().Known(); errors.Is(err, turns.ErrBaseUnknown) {
		fmt.Fprintf(talk, "# %v, and nothing is said to be its change\n", err)
	}
	return own.Sure, own.To, known(b)
}

// diffedUnreviewed returns the commits between which the turns lie that nobody
// has reviewed, the same twice if there is none.
func diffedUnreviewed(c *cli.Context, w *workspace.Workspace) (from, to object.Hash, err error) {
	id, err := command.Mission(c.Context, w, c.String("mission"), c.App.ErrWriter)
	if err == nil && id == "" {
		err = command.NoMission(c.Context, w)
	}
	if err != nil {
		return from, to, err
	}
	a, b, ok, err := unreviewedStates(c.Context, w, id)
	switch {
	case errors.Is(err, git.ErrNotFound):
		return from, to, cmdline.NotFoundf("mission %s has no turn yet", id)
	case err != nil:
		return from, to, err
	case !ok:
		fmt.Fprintf(c.App.ErrWriter, "mission %s: all turns are reviewed\n", id)
		return from, from, nil
	}
	if err := a.Known(); errors.Is(err, turns.ErrBaseUnknown) {
		fmt.Fprintf(c.App.ErrWriter, "# %v, and nothing is said to be its change\n", err)
		a = a.Turn.After()
	}
	fmt.Fprintf(c.App.ErrWriter, "# from %s to %s\n", a.Describe(), b.Describe())
	return a.Commit, b.Commit, known(a, b)
}

// tellBeside says that others worked in the turn, and what a diff leaves out.
func tellBeside(talk io.Writer, w *workspace.Workspace, b *turns.State, own *turns.Change) {
	if own.Alone() {
		return
	}
	left := "what they changed is"
	if own.Unsure() {
		left = "what they changed, and what may be theirs (?), are"
	}
	fmt.Fprintf(talk, "# beside turn %s worked %s; %s left out. See all: git agent-turn diff --all %s\n",
		b, strings.Join(turns.Company(w, own.With), ", "), left, b)
}

// diffTrees prints the diff of two commits as git does, with the records'
// numbers; on a terminal it is escaped and coloured.
func diffTrees(c *cli.Context, repo *git.Repo, from, to object.Hash, options []string, paths ...string) error {
	columns := cmdline.Columns(c.App.Writer)
	if columns == 0 {
		return gitdiff.Diff(c.Context, repo, c.App.Writer, from, to, options, paths)
	}
	out := cmdline.NewDiff(c.App.Writer)
	for i, option := range options {
		switch option {
		case "--stat":
			options[i] = fmt.Sprintf("--stat=%d", columns)
		case "--word-diff":
			options[i], out = "--word-diff=porcelain", cmdline.NewWordDiff(c.App.Writer)
		}
	}
	err := gitdiff.Diff(c.Context, repo, out, from, to, options, paths)
	return cmp.Or(out.Flush(), err)
}
