package main

import (
	"errors"
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
	state, err := sourceOf(c, w)
	if err != nil {
		return err
	}
	state, foreign, err := target.Usable(c, w, state)
	if err != nil {
		return err
	}
	if state.Turn == nil {
		return fmt.Errorf("fork %s: no turn was recorded before it", state.Describe())
	}
	id, err := ledger.NewID()
	if err != nil {
		return err
	}
	f := turns.Fork{Source: state.Turn, Foreign: foreign, Before: c.Bool("before") || state.Start, ID: id, Title: c.String("title"), At: time.Now()}
	if state.Saved {
		if f.Before {
			return cmdline.Usagef("--before is about a turn, not about %s", state.Describe())
		}
		f.From = state.Commit
	}
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
	if proof := state.Turn.Proof(); proof != "" && !state.Saved {
		where := done.Mission.Base
		if state.Known() != nil {
			proof, where = "where the code was then is not known", "HEAD"
		}
		fmt.Fprintf(c.App.ErrWriter, "git-agent-fork: warning: turn %s was imported: %s; the fork begins at %s\n", state.Turn.After(), proof, where)
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

// sourceOf returns the state named on the command line, or the end of the turn that the person picks.
func sourceOf(c *cli.Context, w *workspace.Workspace) (*turns.State, error) {
	mission, talk := c.String("mission"), c.App.ErrWriter
	if c.NArg() > 0 {
		return target.State(c.Context, w, mission, c.Args().First(), talk)
	}
	var here ledger.ID // none for all
	if !c.Bool("all") {
		var err error
		if here, err = target.Mission(c.Context, w, mission, talk); err != nil {
			return nil, err
		}
	}
	t, err := newFinder(w.Repo, "fork", here == "").find(c.Context, ofMission(w, here))
	if errors.Is(err, errEmpty) {
		return nil, target.NoMission(c.Context, w)
	}
	if err != nil {
		return nil, target.Missing(err)
	}
	return t.After(), nil
}

// choose prints the name of the turn that the person picks for another program, or nothing.
func choose(c *cli.Context) error {
	w, err := target.Workspace(c.Context)
	if err != nil {
		return err
	}
	read, all := ofNames(w, os.Stdin), true
	if !c.Bool("among") {
		here, err := target.Mission(c.Context, w, c.String("mission"), c.App.ErrWriter)
		if err != nil {
			return err
		}
		read, all = ofMission(w, here), here == ""
	}
	t, err := newFinder(w.Repo, c.String("choose"), all).find(c.Context, read)
	switch {
	case errors.Is(err, errNone):
		return nil
	case errors.Is(err, errEmpty) && !c.Bool("among"):
		return target.NoMission(c.Context, w)
	}
	if err != nil {
		return target.Missing(err)
	}
	_, err = fmt.Fprintln(c.App.Writer, t.After())
	return err
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
