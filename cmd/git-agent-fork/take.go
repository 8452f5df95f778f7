package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/finisher"
	"gitagent/internal/git/object"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// The values of --commits.
const (
	pick  = "pick"
	merge = "merge"
)

func take(c *cli.Context, w *workspace.Workspace, state *turns.State, foreign bool) error {
	done, err := finisher.CherryPick(c.Context, w, time.Now(), state, finisher.Taking{
		Merge: c.String("commits") == merge, Whole: whole(c, w, state), Dry: c.Bool("dry-run"), Foreign: foreign,
		Stdin: os.Stdin, Talk: c.App.ErrWriter,
	})
	switch {
	case err != nil:
		return untaken(c, w, state, err)
	case len(done.Commits) == 0:
		cmdline.WriteMessage(c.App.ErrWriter, "", fmt.Sprintf("nothing to take: HEAD has all the commits of %s", state.Describe()))
		return nil
	case c.Bool("dry-run"):
		return printCommits(c, w, done.Commits)
	}
	cmdline.WriteMessage(c.App.ErrWriter, "", fmt.Sprintf("took %s of mission %s; HEAD was before:", cmdline.Plural(len(done.Commits), "commit"), state.In))
	if _, err := fmt.Fprintln(c.App.Writer, done.Before); err != nil {
		return err
	}
	cmdline.WriteMessage(c.App.ErrWriter, c.App.Name+": hint: ", fmt.Sprintf("take it back with: git reset --keep %s", done.Before))
	if len(done.Marked) > 0 {
		command.WarnMarked(done.Marked)
	}
	return nil
}

// whole reports whether a fork was named, and no turn or commit of it.
func whole(c *cli.Context, w *workspace.Workspace, state *turns.State) bool {
	name := c.Args().First()
	return !numbered(name, state) && !turns.OfCommit(c.Context, w, name)
}

func printCommits(c *cli.Context, w *workspace.Workspace, list []finisher.CommitLine) error {
	var hashes []object.Hash
	for _, one := range list {
		hashes = append(hashes, one.Hash)
	}
	short, err := w.Repo.Abbreviate(c.Context, hashes)
	if err != nil {
		return err
	}
	table := cmdline.NewTable(cmdline.Column{Style: cmdline.Yellow}, cmdline.Column{})
	for _, one := range list {
		table.Row(short[one.Hash], one.Subject)
	}
	return table.Print(c.App.Writer)
}

// untaken adds to err how to go on.
func untaken(c *cli.Context, w *workspace.Workspace, state *turns.State, err error) error {
	name := c.Args().First()
	again := func(how string) string {
		return cmdline.Shell([]string{"git", "agent-fork", "adopt", "--commits", how, name})
	}
	how := c.String("commits")
	switch {
	case errors.Is(err, finisher.ErrNoBranch):
		return cmdline.Hintf(err, "merge its work into the worktree with: git agent-fork adopt %s", state)
	case errors.Is(err, finisher.ErrOffBranch):
		return cmdline.Hintf(err, "it was made on another one, or the branch was rebased; take that as it is with: git agent-fork adopt --commits %s %s", how, state.In)
	case errors.Is(err, finisher.ErrMerges):
		return cmdline.Hint(err, "nothing was changed; take the branch as it is with: "+again(merge))
	case errors.Is(err, finisher.ErrUnderWay):
		return cmdline.Hint(err, "end it first; how, is said by: git status")
	case errors.Is(err, finisher.ErrStopped) && how == merge:
		return cmdline.Hintf(err, "git has said why; nothing was recorded; go on with: git merge --continue; then record it with: %s; give it up with: git merge --abort", again(how))
	case errors.Is(err, finisher.ErrStopped):
		return cmdline.Hint(err, "git has said why; nothing was recorded; go on with: git cherry-pick --continue; give it up with: git cherry-pick --abort")
	case errors.Is(err, finisher.ErrNotTaken):
		return cmdline.Hintf(err, "git has said why; changes in its way are put away with: git stash --include-untracked; then: %s", again(how))
	case errors.Is(err, finisher.ErrNotCommitted):
		return cmdline.Hintf(err, "commit what it has staged, or take it back with: git reset --merge; the options that it has read are shown by: git config --get-regexp '^(merge|branch)'")
	case errors.Is(err, finisher.ErrNotNoted):
		return cmdline.Hint(err, "no commit is missing; record it with: "+again(how))
	}
	return unadopted(c, w, state, err)
}
