package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/checkout"
	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

func adoptCommand() *cli.Command {
	return &cli.Command{
		Name:  "adopt",
		Usage: "take the work of a fork home",
		UsageText: "git agent-fork adopt [--merge | --commits (pick | merge)] [--dry-run]\n" +
			"                     [--remove-others] [--resume [--launch]] <fork>[/<turn>]",
		Description: "What the fork has changed since it began is merged into the worktree. HEAD, the branch and the index stay as they are. " +
			"The present state is recorded first, and its commit printed. Where both have changed the same lines, nothing is changed, and the paths are listed.",
		Flags: []cli.Flag{
			command.MergeFlag(), command.DryRunFlag(),
			cmdline.OneOf(&cli.StringFlag{Name: "commits", Usage: "take its commits into the branch instead: `(pick|merge)`"}, pick, merge),
			&cli.BoolFlag{Name: "remove-others", Usage: "ask whether the other forks of its turn are to go"},
			&cli.BoolFlag{Name: "resume", Usage: "go on with its conversation here"},
			&cli.BoolFlag{Name: "launch", Usage: "start the agent, with --resume"},
		},
		BashComplete: command.First(command.CompleteForks),
		Action:       alone(cmdline.OneArg("fork", adopt)),
	}
}

func adopt(c *cli.Context) error {
	if err := checkAdopt(c); err != nil {
		return err
	}
	w, err := command.Checkout(c.Context, "adopt into")
	if err != nil {
		return err
	}
	state, foreign, err := adopted(c, w)
	if err != nil {
		return err
	}
	if c.IsSet("commits") {
		err = take(c, w, state, foreign)
	} else {
		err = mergeWork(c, w, state, foreign)
	}
	if err != nil && !(c.Bool("merge") && errors.As(err, new(*checkout.ConflictError))) || c.Bool("dry-run") {
		return err
	}
	if err == nil && c.Bool("remove-others") {
		if err := removeOthers(c, w, state); err != nil {
			return err
		}
	}
	if err == nil {
		next(c, w, state, foreign)
	}
	if c.Bool("resume") { // with conflicts in the worktree, too
		return cmp.Or(resume(c, w, state, foreign, err), err)
	}
	return err
}

func checkAdopt(c *cli.Context) error {
	switch way := c.String("commits"); {
	case c.IsSet("commits") && way != pick && way != merge:
		return cmdline.Usagef("--commits takes %s or %s, not %q", pick, merge, way)
	case c.IsSet("commits") && c.Bool("merge"):
		return cmdline.Usagef("--commits and --merge exclude each other: git writes the conflicts of commits")
	case c.Bool("dry-run") && (c.Bool("resume") || c.Bool("remove-others")):
		return cmdline.Usagef("--dry-run is about the work alone: it goes with neither --resume nor --remove-others")
	case c.Bool("launch") && !c.Bool("resume"):
		return cmdline.Usagef("--launch needs --resume: the conversation that is started")
	case c.Bool("remove-others"):
		return askable()
	}
	return nil
}

func mergeWork(c *cli.Context, w *workspace.Workspace, state *turns.State, foreign bool) error {
	done, err := checkout.Adopt(c.Context, w, time.Now(), state, checkout.Merging{
		RestorePlan: checkout.RestorePlan{Foreign: foreign, Dry: c.Bool("dry-run")}, Merge: c.Bool("merge"),
	})
	if err != nil {
		return unadopted(c, w, state, err)
	}
	if len(done.Changes) == 0 && len(done.Conflicts) == 0 && len(done.Stayed) == 0 {
		cmdline.WriteMessage(c.App.ErrWriter, "", fmt.Sprintf("nothing to adopt: all that %s has is here", state.Describe()))
		return nil
	}
	return command.PrintMerged(c, fmt.Sprintf("adopted %s, forked at %s", state, done.From), &done.Restored)
}

// adopted returns the end of the last turn to adopt; none may be running.
func adopted(c *cli.Context, w *workspace.Workspace) (state *turns.State, foreign bool, err error) {
	name := c.Args().First()
	state, err = command.State(c.Context, w, "", name, c.App.ErrWriter)
	switch {
	case err != nil:
		return nil, false, err
	case !state.Ended():
		return nil, false, cmdline.Usagef("adopt takes a fork, or a turn of one, and %q is %s", name, state.Describe())
	case !numbered(name, state):
		if err := ended(c.Context, w, state); err != nil {
			return nil, false, err
		}
	}
	return command.Usable(c, w, state)
}

func ended(ctx context.Context, w *workspace.Workspace, last *turns.State) error {
	live, err := command.Live(ctx, w, time.Now())
	if err != nil {
		return err
	}
	for _, l := range live {
		if l.Mission == last.In && l.Open != nil {
			return cmdline.Hintf(fmt.Errorf("turn %s is running", l.ID()), "wait for its end, or adopt what came before it with: git agent-fork adopt %s", last)
		}
	}
	return nil
}

// unadopted adds what to do after a failed adoption.
func unadopted(c *cli.Context, w *workspace.Workspace, state *turns.State, err error) error {
	switch {
	case errors.Is(err, turns.ErrNoFork):
		return cmdline.Hintf(err, "commit the work of a mission with: git agent-turn finish %s", state.In)
	case errors.Is(err, turns.ErrInherited):
		return cmdline.Usagef("%w", err)
	case errors.Is(err, turns.ErrArchived):
		return cmdline.Hintf(err, "take it out of the archive with: git agent-turn archive --out %s", state.In)
	case errors.Is(err, turns.ErrOwnBranch):
		return cmdline.Hint(err, "change to the worktree that is to have its work, and adopt it there with: "+
			cmdline.Shell([]string{"git", "-C", w.Repo.Main(c.Context), "agent-fork", "adopt", state.String()}))
	}
	return command.Unmerged(c, err, "git agent-fork adopt --merge "+state.String())
}

// next says what was not adopted: other changes, and the turn's other forks.
func next(c *cli.Context, w *workspace.Workspace, state *turns.State, foreign bool) {
	if ended(c.Context, w, state) == nil {
		tellUnrecorded(c, w, state, foreign)
	}
	if !c.Bool("remove-others") { // otherwise they were shown
		tellSiblings(c, w, state)
	}
}

func tellUnrecorded(c *cli.Context, w *workspace.Workspace, state *turns.State, foreign bool) {
	dir, err := checkout.Unrecorded(c.Context, w, state, foreign, c.IsSet("commits") && whole(c, w, state))
	if err != nil {
		cmdline.Warn(fmt.Errorf("it is not known whether all changes of the fork are recorded: %w", err))
	}
	if dir != "" {
		cmdline.Warn(fmt.Errorf("changes in %s that no turn has recorded were not adopted", dir))
		cmdline.WriteMessage(c.App.ErrWriter, c.App.Name+": hint: ", "adopt them as well after you have recorded them with: "+
			cmdline.Shell([]string{"git", "-C", dir, "agent-turn", "record", "--mission", string(state.In), "--prompt", "by hand"}))
	}
}

const maxSiblings = 5

// tellSiblings names the other forks of the turn that still have a branch.
func tellSiblings(c *cli.Context, w *workspace.Workspace, state *turns.State) {
	lines, _ := turns.Missions(c.Context, w.Repo)          // an unreadable one is not named
	branches, err := w.Repo.Refs(c.Context, "refs/heads/") // one process for all siblings
	if err != nil {
		return
	}
	var ids []string
	var of string
	for _, l := range turns.Siblings(lines, state.In) {
		if _, has := branches[w.Branch(l.ID)]; has {
			ids, of = append(ids, string(l.ID)), l.ForkedFrom.String()
		}
	}
	if len(ids) == 0 {
		return
	}
	names := strings.Join(ids[:min(len(ids), maxSiblings)], ", ")
	if len(ids) > maxSiblings {
		names += " and more"
	}
	cmdline.WriteMessage(c.App.ErrWriter, "", fmt.Sprintf("still there, forked at %s as well: %s", of, names))
	cmdline.WriteMessage(c.App.ErrWriter, c.App.Name+": hint: ", fmt.Sprintf("remove their worktrees and branches, and keep their turns, with: git agent-fork adopt --remove-others %s", state))
}

// numbered reports whether a turn was named by its number.
func numbered(name string, s *turns.State) bool { return path.Base(name) == strconv.Itoa(s.Turn.Turn) }
