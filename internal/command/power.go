package command

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"gitagent/handoffstore"
	"gitagent/internal/agent"
	"gitagent/internal/cmdline"
	"gitagent/internal/git"
	"gitagent/internal/power"
	"gitagent/internal/session"
	"gitagent/internal/snapshot"
	"gitagent/internal/terminal"
	"gitagent/internal/workspace"
)

// Guarded returns app, whose commands ask the table of powers before they do
// anything: see [power.Commands].
func Guarded(app *cli.App) *cli.App {
	program := strings.TrimPrefix(app.Name, "git-")
	app.Action, app.BashComplete = guarded(program, app.Action), untold(app.BashComplete, app.Flags)
	guardAll(program, app.Commands)
	return app
}

func guardAll(prefix string, commands []*cli.Command) {
	for _, c := range commands {
		name := prefix + " " + c.Name
		c.Action, c.BashComplete = guarded(name, c.Action), untold(c.BashComplete, c.Flags)
		guardAll(name, c.Subcommands)
	}
}

// untold returns complete, and changes flags, so that they propose nothing to an
// agent: titles may be anybody's, and of any repository.
func untold(complete cli.BashCompleteFunc, flags []cli.Flag) cli.BashCompleteFunc {
	silent := func(complete cli.BashCompleteFunc) cli.BashCompleteFunc {
		return func(c *cli.Context) {
			if !ByAgent(c.Context) {
				complete(c)
			}
		}
	}
	for _, f := range flags {
		if f, ok := f.(*cmdline.CompletedFlag); ok {
			f.Values = silent(f.Values)
		}
	}
	if complete == nil { // the names of commands are proposed
		return nil
	}
	return silent(complete)
}

func guarded(name string, action cli.ActionFunc) cli.ActionFunc {
	if action == nil { // it only says that a command is needed
		return nil
	}
	return func(c *cli.Context) error {
		if err := permitted(c, name); err != nil {
			return err
		}
		return action(c)
	}
}

// permitted returns an error unless who runs a command may do what it does.
func permitted(c *cli.Context, name string) error {
	does, ok := power.Commands()[name]
	if !ok {
		return fmt.Errorf("git %s is in no table of powers", name)
	}
	who, on := Actor(c.Context), power.On{}
	if who == power.Agent {
		var err error
		if on, err = standsFor(c, does); err != nil {
			return err
		}
		if byHook(c, name) {
			who, on.Repository, on.Mission = power.Hook, false, false
		}
		if c.Command != nil && slices.ContainsFunc(c.Command.Flags, func(f cli.Flag) bool { return f.Names()[0] == trustedFlag }) {
			if err := c.Set(trustedFlag, "true"); err != nil {
				return err
			}
		}
	}
	var flags []string
	for _, f := range c.LocalFlagNames() {
		if c.String(f) != "false" {
			flags = append(flags, f)
		}
	}
	use, refused := power.Refused(who, does.Uses(flags, on))
	if !refused {
		return nil
	}
	if who == power.Script {
		return cmdline.Hintf(fmt.Errorf("only a person may %s, and is asked: %s", what(use), cmdline.Unasked()),
			"call it on a terminal: %s", cmdline.Shell(again(c)))
	}
	return taken(c, fmt.Errorf("%s may not %s", who, what(use)))
}

// taken adds to a refusal what a person does instead. On a terminal one may
// have been taken for an agent: it says by what.
func taken(c *cli.Context, refusal error) error {
	line := again(c)
	if !cmdline.CanAsk() {
		return cmdline.Hintf(refusal, "a person may, on a terminal of their own: %s", cmdline.Shell(line))
	}
	if p := client(c.Context); p.PID > 0 {
		return cmdline.Hintf(fmt.Errorf("%w; it is taken for one by process %d (%s), which has started it", refusal, p.PID, p.Name),
			"a person may, on a terminal that it has not started: %s", cmdline.Shell(line))
	}
	marks := agent.Marks(os.Environ())
	unset := []string{"env"}
	for _, name := range marks {
		unset = append(unset, "-u", name)
	}
	return cmdline.Hintf(fmt.Errorf("%w; it is taken for one by %s in the environment", refusal, strings.Join(marks, ", ")),
		"if you are a person: %s", cmdline.Shell(append(unset, line...)))
}

// again is the command line of this process for a shell that stands anywhere.
func again(c *cli.Context) []string {
	line := []string{"git"}
	if dir := cmdline.StartedIn(c.Context); dir != "" {
		line = append(line, "-C", dir)
	}
	if dir := os.Getenv("GIT_DIR"); dir != "" {
		line = append(line, "--git-dir="+dir)
	}
	if dir := os.Getenv("GIT_WORK_TREE"); dir != "" {
		line = append(line, "--work-tree="+dir)
	}
	return slices.Concat(line, []string{strings.TrimPrefix(c.App.Name, "git-")}, os.Args[1:])
}

// byHook reports whether a command is one that our hooks start, in whatever
// repository the agent works. It does nothing that an agent may not do itself.
func byHook(c *cli.Context, name string) bool {
	_, client := agent.Inside(os.Getenv)
	switch name {
	case "agent-turn housekeep":
		return true
	case "agent-turn push":
		return c.Bool("queued")
	case "agent-handoff wake":
		if client.ProjectDir == "" { // an agent's own commands don't have it
			return false
		}
		w, err := Unfollowed(c.Context)
		return err == nil && w.Store.Load(client.SessionID).Mission != "" // the session works here
	}
	return false
}

// what is a use in words.
func what(use power.Use) string {
	switch {
	case use == power.Use{Deed: power.Tell, Whose: power.Elsewhere}:
		return "hand off or type in a repository or terminal that is not its own"
	case use.Whose == power.Elsewhere && use.Deed == power.Read:
		return "read what is not of this repository"
	case use.Whose == power.Elsewhere:
		return string(use.Deed) + " in a repository that is not its own"
	case use.Whose == power.Clone && (use.Deed == power.Record || use.Deed == power.Tell):
		return "hand off, record or tell for a mission that is not its own"
	}
	return map[power.Deed]string{
		power.Read: "read this", power.Tell: "tell it", power.Record: "record it", power.Restore: "restore it",
		power.Push: "send anything", power.Purge: "purge or remove what was recorded", power.Trust: "say whose records may be used",
		power.Review:    "say that a person has looked at it",
		power.Configure: "change how this repository is recorded", power.SwitchOff: "switch off the recording",
	}[use.Deed]
}

// Actor returns who runs this process: an agent, by the environment, which it
// could change, and by the parent processes; a person, whom a terminal does not
// prove, as a program may have made it; or a person's script.
func Actor(ctx context.Context) power.Actor {
	switch {
	case ByAgent(ctx):
		return power.Agent
	case cmdline.CanAsk():
		return power.Person
	}
	return power.Script
}

// nobody returns why no person could answer a question about untrusted work,
// or "". An agent that can type into the user's own terminal can't be told from
// them.
func nobody(ctx context.Context) string {
	switch {
	case !cmdline.CanAsk():
		return cmdline.Unasked()
	case ByAgent(ctx):
		return "an agent can't accept it"
	}
	return ""
}

// ByAgent reports whether an agent runs this process, see [Actor].
func ByAgent(ctx context.Context) bool {
	return len(agent.Marks(os.Environ())) > 0 || client(ctx).PID > 0
}

// client returns the process of the agent's client that runs this one, if it is
// seen.
func client(ctx context.Context) session.Process {
	for _, p := range ancestors(ctx) {
		if agent.IsClient(p.Name) || agent.Registered(os.Getenv, p.PID) {
			return p
		}
	}
	return session.Process{}
}

// inTests is set where tests build the programs, see test/gittest, or run
// them within their own: an agent may run the tests.
var inTests string

type inTestsKey struct{}

// InTests returns a context in which a Go test, and what runs it, don't count as
// ancestors.
func InTests(ctx context.Context) context.Context { return context.WithValue(ctx, inTestsKey{}, true) }

func ancestors(ctx context.Context) []session.Process {
	all := session.Ancestors()
	if inTests == "" && ctx.Value(inTestsKey{}) == nil {
		return all
	}
	i := slices.IndexFunc(all, func(p session.Process) bool {
		program, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", p.PID))
		return strings.HasSuffix(program, ".test")
	})
	return all[:max(i, 0)]
}

// standsFor returns what the words of an agent's command line stand for.
func standsFor(c *cli.Context, does power.Command) (on power.On, err error) {
	w, err := Unfollowed(c.Context)
	if err != nil { // the command says so, if it needs a repository
		on.Pane, on.File = c.String("tmux") != "", len(files(c)) > 0
		return on, nil
	}
	home := cmdline.StartedIn(c.Context)
	if p := client(c.Context); p.PID > 0 {
		if dir, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", p.PID)); err == nil {
			if _, err := os.Stat(dir); err == nil { // else it was deleted
				home = dir
			}
		}
	}
	on.Repository = !within(w.Repo, home)
	writes := slices.ContainsFunc(does.Does, func(u power.Use) bool { return u.Deed == power.Record && u.Whose == power.Session })
	if name := c.String("mission"); name != "" && writes {
		if on.Mission, err = notOwn(c.Context, w, name); err != nil {
			return on, err
		}
	}
	if name := c.String("session"); name != "" && writes {
		_, client := agent.Inside(os.Getenv)
		on.Mission = on.Mission || name != client.SessionID
	}
	if target := c.String("tmux"); target != "" {
		pane, err := terminal.FindPane(target)
		if err != nil {
			return on, err
		}
		id, err := pane.Ask(c.Context, "#{pane_id}")
		if err != nil {
			return on, err
		}
		on.Pane = id != os.Getenv("TMUX_PANE")
	}
	for _, name := range files(c) {
		on.File = on.File || !ours(c.Context, w, name)
	}
	return on, nil
}

// within reports whether a repository is that of a directory, or lies below it.
// A .git file below it may name any other, and the environment any worktree:
// one that is not the repository's must lie there, too.
func within(repo *git.Repo, home string) bool {
	if !isOf(home, repo) && !below(home, repo.CommonDir) {
		return false
	}
	return repo.Top == "" || isOf(repo.Top, repo) || below(home, repo.Top)
}

// isOf reports whether a directory lies in a worktree of a repository.
func isOf(dir string, repo *git.Repo) bool {
	in, err := git.Find(dir)
	return err == nil && in.CommonDir == repo.CommonDir
}

// below reports whether a directory is another one or lies below it.
func below(top, dir string) bool {
	top, err := filepath.EvalSymlinks(top)
	dir, err2 := filepath.EvalSymlinks(dir)
	if err != nil || err2 != nil {
		return false
	}
	_, within := git.Within(top, dir)
	return within
}

// notOwn reports whether a mission's name is not that of the agent's session.
func notOwn(ctx context.Context, w *workspace.Workspace, name string) (bool, error) {
	id, err := Named(ctx, w.Repo, name)
	if err != nil {
		return true, err
	}
	st := Agent(w)
	return st == nil || st.Mission != id, nil
}

// files returns the files that a command line says to read.
func files(c *cli.Context) []string {
	var names []string
	switch strings.TrimPrefix(c.Command.HelpName, c.App.HelpName+" ") {
	case "write":
		names = append(names, c.Args().First(), c.String("log"))
	case "record":
		names = append(names, c.String("transcript"))
	case "log show", "log start":
		names = append(names, c.Args().First())
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" || name == "-" })
}

// ours reports whether a file is one that a turn records, or that we asked the
// agent to write.
func ours(ctx context.Context, w *workspace.Workspace, name string) bool {
	path, err := filepath.Abs(name)
	if err != nil {
		return false
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return false
	}
	path = filepath.Join(dir, filepath.Base(path))
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return false
	}
	_, client := agent.Inside(os.Getenv)
	asked := handoffstore.DocumentPath(os.Getenv, cmp.Or(client.SessionID, strings.TrimSuffix(filepath.Base(path), ".md")))
	if in, err := filepath.EvalSymlinks(filepath.Dir(asked)); err == nil && path == filepath.Join(in, filepath.Base(asked)) {
		return true
	}
	return w.Repo.Records(ctx, path) && !snapshot.Secret(path)
}
