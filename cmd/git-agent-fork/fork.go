package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/copyignored"
	"gitagent/internal/git"
	"gitagent/internal/missionstore"
	"gitagent/internal/pusher"
	"gitagent/internal/record"
	"gitagent/internal/remote"
	"gitagent/internal/suggest"
	"gitagent/internal/terminal"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

func fork(c *cli.Context) error {
	if err := check(c); err != nil {
		return err
	}
	begins, err := outsets(c)
	if err != nil {
		return err
	}
	w, err := command.Workspace(c.Context)
	if err != nil {
		return err
	}
	f, err := newForking(c, w)
	if err != nil {
		return err
	}
	if len(begins) > 1 {
		return f.several(begins)
	}
	p, err := f.make(begins[0])
	if err != nil {
		return err
	}
	if err := f.setUp(p); err != nil {
		return err
	}
	if c.Bool("launch") {
		return terminal.Launch(p.Worktree, p.Command, p.environment())
	}
	return f.show(p)
}

// A forking is what one command line makes of a turn.
type forking struct {
	c       *cli.Context
	w       *workspace.Workspace
	state   *turns.State
	foreign bool               // it is untrusted
	include *copyignored.Files // what the worktree also gets, or nil
	setup   string             // the command to run there, or ""
	remotes []*remote.Remote
}

// newForking reads the command line, and makes nothing yet.
func newForking(c *cli.Context, w *workspace.Workspace) (*forking, error) {
	state, err := sourceOf(c, w)
	if err != nil {
		return nil, err
	}
	f := &forking{c: c, w: w}
	if f.state, f.foreign, err = command.Usable(c, w, state); err != nil {
		return nil, err
	}
	switch {
	case f.state.Turn == nil:
		return nil, fmt.Errorf("fork %s: no turn was recorded before it", f.state.Describe())
	case (f.state.Saved || f.state.Within()) && c.Bool("before"):
		return nil, cmdline.Usagef("--before is about a turn, not about %s", f.state.Describe())
	}
	if !c.Bool("no-worktree") {
		if f.include, err = command.Include(c, w, f.foreign); err != nil {
			return nil, err
		}
		if f.setup, err = command.Setup(c, w, f.foreign); err != nil {
			return nil, err
		}
	}
	if c.Bool("push") {
		if f.remotes, err = command.Remotes(c.Context, w); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *forking) make(begin outset) (*plan, error) {
	c := f.c
	id, err := record.NewID()
	if err != nil {
		return nil, err
	}
	fork := missionstore.ForkPlan{
		Source: f.state.Turn, Foreign: f.foreign, Before: c.Bool("before") || f.state.Start, ID: id,
		Title: c.String("title"), Prompt: begin.prompt, Agent: begin.agent, At: time.Now(), Include: f.include,
	}
	if f.state.Saved || f.state.Within() {
		fork.From, fork.Call = f.state.Commit, f.state.Call
	}
	if !c.Bool("no-worktree") {
		if fork.Worktree, err = worktree(c, f.w.Repo, id); err != nil {
			return nil, err
		}
	}
	if !c.Bool("no-conversation") {
		if fork.Source.Away() {
			fork.Home, fork.Lost = command.Home(c.Context, &turns.Writers{Workspace: f.w}, fork.Source)
		}
		of := begin.of(fork.Source)
		fork.Session, fork.Config = of.NewSession(), of.ConfigDir(os.Getenv)
	}
	if cmdline.IsTerminal(os.Stderr) {
		fork.Progress = os.Stderr
	}
	if _, err := f.w.Switch(true); err != nil {
		return nil, err
	}
	told, stop := command.Copying(c.App.ErrWriter, f.include)
	fork.Copying, fork.Unhooked = told, command.Unhooked(c)
	done, err := missionstore.Fork(c.Context, f.w, fork)
	stop()
	if err != nil {
		return nil, command.Branchless(c.Context, f.w, err)
	}
	command.NotPushed(c.App.ErrWriter, id, pusher.PushToEach(c.Context, f.remotes, id))
	p, err := newPlan(c.Context, f.w.Repo, fork, done, begin.of(fork.Source))
	if err != nil {
		return nil, err
	}
	f.tell(fork, done)
	return p, nil
}

// tell reports what a fork got in addition to the turn, and what it lacks.
func (f *forking) tell(fork missionstore.ForkPlan, done *missionstore.Forked) {
	talk := f.c.App.ErrWriter
	if err := fork.Source.Before().Known(); fork.Before && errors.Is(err, turns.ErrBaseUnknown) {
		fmt.Fprintf(talk, "git-agent-fork: warning: %v; the fork begins at HEAD\n", err)
	} else if proof := fork.Source.Proof(); proof != "" && !f.state.Saved {
		where := done.Mission.Base
		if f.state.Known() != nil {
			proof, where = "where the code was then is not known", "HEAD"
		}
		fmt.Fprintf(talk, "git-agent-fork: warning: turn %s was imported: %s; the fork begins at %s\n", fork.Source.After(), proof, where)
	}
	if done.Why != nil {
		fmt.Fprintf(talk, "git-agent-fork: warning: the conversation can't be taken along (%s); a new one begins with what the turns tell\n",
			cmdline.OneLine(done.Why.Error()))
	}
	if fork.Worktree != "" {
		command.TellIncluded(talk, done.Included)
		command.TellLacks(f.c.Context, talk, fork.Worktree, fork.Foreign)
	}
}

// setUp runs the setup in the fork's worktree. After a failure the fork stays.
func (f *forking) setUp(p *plan) error {
	if err := command.RunSetup(f.c, f.setup, p.Worktree, record.ID(p.Mission)); err != nil {
		return cmp.Or(err, f.show(p))
	}
	return nil
}

// show prints what was made, and how to start the agent there.
func (f *forking) show(p *plan) error {
	if f.c.Bool("print") {
		return cmdline.PrintJSON(f.c.App.Writer, p)
	}
	return p.print(f.c.App.Writer)
}

func check(c *cli.Context) error {
	switch {
	case c.NArg() > 1:
		return meant(c, cmdline.Usagef("fork takes one turn, not %d", c.NArg()))
	case c.Bool("launch") && c.Bool("print"):
		return cmdline.Usagef("--launch and --print exclude each other")
	case c.Bool("no-worktree") && c.IsSet("worktree"):
		return cmdline.Usagef("--worktree and --no-worktree exclude each other")
	case c.Bool("no-worktree") && c.Bool("launch"):
		return cmdline.Usagef("--launch needs a worktree to start the agent in")
	case c.Bool("all") && (c.IsSet("mission") || c.NArg() > 0):
		return cmdline.Usagef("--all is for choosing: it goes with neither a turn nor --mission")
	}
	return command.CheckPlanting(c, !c.Bool("no-worktree"))
}

// sourceOf returns the state that is named, or the end of the picked turn.
func sourceOf(c *cli.Context, w *workspace.Workspace) (*turns.State, error) {
	mission, talk := c.String("mission"), c.App.ErrWriter
	if c.NArg() > 0 {
		state, err := command.State(c.Context, w, mission, c.Args().First(), talk)
		if errors.Is(err, git.ErrNotFound) {
			err = meant(c, err)
		}
		return state, err
	}
	var here record.ID // empty for all
	if !c.Bool("all") {
		var err error
		if here, err = command.Mission(c.Context, w, mission, talk); err != nil {
			return nil, err
		}
	}
	t, err := newFinder(w.Repo, "fork", here == "").find(c.Context, ofMission(w, here))
	if errors.Is(err, errEmpty) {
		return nil, command.NoMission(c.Context, w)
	}
	if err != nil {
		return nil, command.Missing(err)
	}
	return t.After(), nil
}

// meant suggests the command that the first argument may stand for.
func meant(c *cli.Context, err error) error {
	var names []string
	for _, cmd := range commands() {
		names = append(names, cmd.Name)
	}
	if near := suggest.Nearest(c.Args().First(), names); near != "" {
		return cmdline.Hintf(err, "did you mean %s?", near)
	}
	return err
}

// choose prints the turn that a person picks for another program, or nothing.
func choose(c *cli.Context) error {
	w, err := command.Workspace(c.Context)
	if err != nil {
		return err
	}
	read, all := ofNames(w, os.Stdin), true
	if !c.Bool("among") {
		here, err := command.Mission(c.Context, w, c.String("mission"), c.App.ErrWriter)
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
		return command.NoMission(c.Context, w)
	}
	if err != nil {
		return command.Missing(err)
	}
	_, err = fmt.Fprintln(c.App.Writer, t.After())
	return err
}

// worktree returns the named directory, or a new one beside the checkout.
func worktree(c *cli.Context, repo *git.Repo, id record.ID) (string, error) {
	dir := c.String("worktree")
	if dir == "" {
		main := repo.Top
		if filepath.Base(repo.CommonDir) == ".git" {
			main = filepath.Dir(repo.CommonDir) // the repository's name, in a linked worktree, too
		}
		parent, err := beside(c.Context, repo, main)
		if err != nil {
			return "", err
		}
		dir = filepath.Join(parent, filepath.Base(main)+"-"+string(id))
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

// beside returns the directory to make a worktree in: the checkout's, or if that
// is in a worktree of another repository, where a fork would be an untracked
// file, the nearest one above that.
func beside(ctx context.Context, repo *git.Repo, checkout string) (string, error) {
	home, _ := os.UserHomeDir()
	dir := filepath.Dir(checkout)
	for {
		around, err := git.Find(dir)
		if err != nil || git.SameFile(around.CommonDir, repo.CommonDir) || hides(ctx, around, filepath.Join(dir, filepath.Base(checkout)+"-")) {
			return dir, nil
		}
		top := cmp.Or(around.Top, around.CommonDir)
		if _, within := git.Within(top, home); within { // there is no place above for all that one has
			return "", cmdline.Hint(fmt.Errorf("a fork beside %q would be an untracked file in the worktree %q", checkout, top), "name its directory with --worktree <dir>")
		}
		dir = filepath.Dir(top)
	}
}

// hides reports whether a repository does not show a new file.
func hides(ctx context.Context, repo *git.Repo, path string) bool {
	if conf, err := repo.Config(ctx); err == nil && conf.Off("status.showuntrackedfiles") {
		return true
	}
	_, err := repo.Output(ctx, nil, "check-ignore", "--quiet", "--", path)
	return err == nil
}
