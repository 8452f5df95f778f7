package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/hooks"
	"gitagent/internal/cmdline"
	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/remote"
	"gitagent/internal/session"
	"gitagent/internal/target"
	"gitagent/internal/terminal"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

func fork(c *cli.Context) error {
	if err := check(c); err != nil {
		return err
	}
	w, err := target.Workspace(c.Context)
	if err != nil {
		return err
	}
	source, err := choose(c, w)
	if err != nil {
		return err
	}
	source, foreign, err := target.Usable(c, w, source)
	if err != nil {
		return err
	}
	id, err := ledger.NewID()
	if err != nil {
		return err
	}
	f := turns.Fork{Source: source, Foreign: foreign, Before: c.Bool("before"), ID: id, Title: c.String("title"), At: time.Now()}
	if !c.Bool("no-worktree") {
		if f.Worktree, err = worktree(c, w.Repo, id); err != nil {
			return err
		}
	}
	if !c.Bool("no-conversation") {
		f.Session, f.Config = session.NewID(), hooks.Claude.ConfigDir(os.Getenv)
	}
	if cmdline.IsTerminal(os.Stderr) {
		f.Progress = os.Stderr
	}
	var remotes []*remote.Remote
	if c.Bool("push") {
		if remotes, err = target.Remotes(c.Context, w); err != nil {
			return err
		}
	}
	if _, err := w.Store.Enable(true); err != nil {
		return err
	}
	r := &turns.Recorder{Workspace: w}
	done, err := r.Fork(c.Context, f)
	if err != nil {
		return err
	}
	target.Push(c.Context, remotes, id, c.App.ErrWriter)
	p, err := newPlan(c.Context, w.Repo, f, done)
	if err != nil {
		return err
	}
	if done.Why != nil {
		fmt.Fprintf(c.App.ErrWriter, "git-agent-fork: warning: the conversation can't be taken along (%s); a new one begins with what the turns tell\n",
			cmdline.OneLine(done.Why.Error()))
	}
	if f.Worktree != "" {
		if _, err := os.Lstat(filepath.Join(f.Worktree, ".gitmodules")); err == nil {
			fmt.Fprintf(c.App.ErrWriter, "submodules are not checked out; do it with: %s\n",
				cmdline.Shell([]string{"git", "-C", f.Worktree, "submodule", "update", "--init", "--recursive"}))
		}
	}
	switch {
	case c.Bool("launch"):
		return terminal.Launch(p.Worktree, p.Command, []string{"GIT_AGENT_MISSION=" + string(id)})
	case c.Bool("print"):
		return cmdline.PrintJSON(c.App.Writer, p)
	}
	return p.print(c.App.Writer)
}

// check checks the command line itself.
func check(c *cli.Context) error {
	switch {
	case c.NArg() > 1:
		return cmdline.Usagef("fork takes one turn, not %d", c.NArg())
	case c.Bool("launch") && c.Bool("print"):
		return cmdline.Usagef("--launch and --print exclude each other")
	case c.Bool("no-worktree") && c.IsSet("worktree"):
		return cmdline.Usagef("--worktree and --no-worktree exclude each other")
	case c.Bool("no-worktree") && c.Bool("launch"):
		return cmdline.Usagef("--launch needs a worktree to start the agent in")
	case c.Bool("all") && (c.IsSet("mission") || c.NArg() > 0):
		return cmdline.Usagef("--all is for choosing: it goes with neither a turn nor --mission")
	}
	return nil
}

// choose returns the turn named on the command line, or the one that the person picks.
func choose(c *cli.Context, w *workspace.Workspace) (*turns.Turn, error) {
	mission, talk := c.String("mission"), c.App.ErrWriter
	if c.NArg() > 0 {
		return target.Turn(c.Context, w, mission, c.Args().First(), talk)
	}
	var here ledger.ID // none for all
	if !c.Bool("all") {
		var err error
		if here, err = target.Mission(c.Context, w, mission, talk); err != nil {
			return nil, err
		}
	}
	t, err := find(c, w.Repo, here)
	return t, target.Missing(err)
}

// worktree is where the fork is checked out: the directory named, or else one beside the checkout.
func worktree(c *cli.Context, repo *git.Repo, id ledger.ID) (string, error) {
	dir := c.String("worktree")
	if dir == "" {
		main := repo.Top
		if filepath.Base(repo.CommonDir) == ".git" {
			main = filepath.Dir(repo.CommonDir) // in a linked worktree, too, a fork is named after the repository
		}
		dir = filepath.Join(filepath.Dir(main), filepath.Base(main)+"-"+string(id))
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return "", cmdline.Hint(fmt.Errorf("the directory %q is not empty", dir), "name another one with --worktree <dir>")
	} else if _, e := os.Lstat(dir); err != nil && e == nil {
		return "", cmdline.Hint(fmt.Errorf("%q is not a directory", dir), "name another one with --worktree <dir>")
	}
	return dir, nil
}
