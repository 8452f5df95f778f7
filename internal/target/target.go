// Package target finds what a command works on if the command line does not say: the repository of
// the current directory, the mission, the turn, the remotes.
package target

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"gitagent/hooks"
	"gitagent/internal/cmdline"
	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/remote"
	"gitagent/internal/session"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// MissionFlag is the flag --mission; what it says is for [Mission].
func MissionFlag() cli.Flag {
	return &cli.StringFlag{Name: "mission", Usage: "of the mission `<id>`"}
}

// JSONFlag is the flag --json of the commands that print lists or records.
func JSONFlag() cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "print one JSON object per line"}
}

// DryRunFlag is the flag --dry-run of the commands that change something.
func DryRunFlag() cli.Flag {
	return &cli.BoolFlag{Name: "dry-run", Aliases: []string{"n"}, Usage: "only show what would change"}
}

// Workspace opens the repository of the current directory, see [Open].
func Workspace(ctx context.Context) (*workspace.Workspace, error) {
	repo, err := git.Open(ctx)
	if errors.Is(err, git.ErrNotFound) {
		return nil, cmdline.Hint(errors.New("not in a git repository"), "change into one, or name it with -C <dir>")
	}
	if err != nil {
		return nil, err
	}
	return Open(repo)
}

// Open opens a repository. If an error is about the user's settings, all of which a command requires
// to be valid, there is a workspace with the valid ones, too. The repository's only cause a warning.
func Open(repo *git.Repo) (*workspace.Workspace, error) {
	w, err := workspace.Open(repo)
	if errors.As(err, new(*config.Stranger)) {
		cmdline.Warn(err)
		return w, nil
	}
	return w, err
}

// Checkout is [Workspace] for commands that need a worktree to what: "record", say.
func Checkout(ctx context.Context, what string) (*workspace.Workspace, error) {
	w, err := Workspace(ctx)
	if err == nil && w.Repo.Top == "" {
		return nil, fmt.Errorf("a bare repository has no worktree to %s", what)
	}
	return w, err
}

// Mission is the mission that a command works on, the first that exists of: the named one, the
// branch's, that of the session whose agent runs the command, the one recorded last in this worktree
// (announced on talk), and in a clone without local state the only one. It is empty if there is none.
func Mission(ctx context.Context, w *workspace.Workspace, named string, talk io.Writer) (ledger.ID, error) {
	if named != "" {
		id, err := ledger.ParseID(named)
		if err != nil {
			return "", cmdline.Usagef("%w", err)
		}
		return id, nil
	}
	if id, err := w.Mission(ctx); id != "" || err != nil {
		return id, err
	}
	if st := Agent(w); st != nil {
		if m, err := ledger.ParseID(st.Mission); err == nil {
			return m, nil
		}
	}
	if last := w.Store.Last(func(st *session.State) bool { return st.Worktree == w.Repo.GitDir && st.Mission != "" }); last != nil {
		fmt.Fprintf(talk, "mission %s\n", cmdline.Escape(last.Mission))
		return ledger.ParseID(last.Mission)
	}
	return only(ctx, w.Repo)
}

// Agent is the session whose agent runs the command; nil if a person runs it.
func Agent(w *workspace.Workspace) *session.State {
	if id := hooks.ReadClient(os.Getenv).SessionID; id != "" {
		return w.Store.Load(id)
	}
	return nil
}

// only returns the repository's mission, if there is just one.
func only(ctx context.Context, repo *git.Repo) (ledger.ID, error) {
	missions, err := ledger.List(ctx, repo)
	if err != nil || len(missions) != 1 {
		return "", err
	}
	for id := range missions {
		return id, nil
	}
	return "", nil
}

// NoMission says that there is nothing to work on.
func NoMission() error {
	return cmdline.Hint(cmdline.NotFoundf("no turn has been recorded in this worktree"),
		"name a mission with --mission <id>; list them with: git agent-turn missions")
}

// Turn returns the turn that a command works on: the one that is named, see [turns.Find], else the
// last one. A number, or no name, is about the mission that [Mission] gives.
func Turn(ctx context.Context, w *workspace.Workspace, mission, name string, talk io.Writer) (*turns.Turn, error) {
	_, isNumber := ledger.ParseNumber(name)
	unsaid := isNumber || name == "" || name == "latest"
	if !unsaid {
		talk = io.Discard // a commit is looked for in all missions
	}
	var here ledger.ID
	if _, says := turns.MissionOf(name); !says {
		var err error
		if here, err = Mission(ctx, w, mission, talk); err != nil {
			return nil, err
		}
		if here == "" && unsaid {
			return nil, NoMission()
		}
	}
	t, err := turns.Find(ctx, w.Repo, here, name)
	return t, Missing(err)
}

// Missing adds to the error that something is not there what there is instead.
func Missing(err error) error {
	var m *turns.MissingError
	if !errors.As(err, &m) {
		return err
	}
	near := strings.Join(m.Nearest, ", ")
	switch {
	case near == "":
		return cmdline.Hint(err, "list the turns with: git agent-turn list --all")
	case strings.Contains(near, "/"):
		return cmdline.Hintf(err, "nearest: %s; list the turns with: git agent-turn list --all", near)
	}
	return cmdline.Hintf(err, "nearest: %s; list the missions with: git agent-turn missions", near)
}

// PrintRestored says what the restore of a turn or handoff changed, and prints the commit that holds
// what was there before, empty if that was nothing, not even a commit. After a dry run it lists what
// would change.
func PrintRestored(c *cli.Context, what string, changes []git.FileStat, before git.Hex) error {
	if !c.Bool("dry-run") {
		fmt.Fprintf(c.App.ErrWriter, "restored %s: %s changed; what was there before:\n", what, cmdline.Plural(len(changes), "file"))
		_, err := fmt.Fprintln(c.App.Writer, before)
		return err
	}
	table := cmdline.NewTable(
		cmdline.Column{Right: true, Style: cmdline.Green},
		cmdline.Column{Right: true, Style: cmdline.Red},
		cmdline.Column{},
	)
	for _, f := range changes {
		table.Row(fmt.Sprintf("+%d", f.Insertions), fmt.Sprintf("-%d", f.Deletions), f.Path)
	}
	return table.Print(c.App.Writer)
}

// maxCompleted is how many turns are offered to the shell, the newest.
const maxCompleted = 1000

// CompleteTurns offers the numbers of a mission's turns to the shell. See [Mission] for which.
func CompleteTurns(c *cli.Context, mission string) {
	w, err := Workspace(c.Context)
	if err != nil {
		return
	}
	id, err := Mission(c.Context, w, mission, c.App.ErrWriter)
	if err != nil || id == "" {
		return
	}
	numbers, err := turns.Numbers(c.Context, w.Repo, id, maxCompleted)
	if err != nil {
		return
	}
	for _, n := range slices.Backward(numbers) {
		fmt.Fprintln(c.App.Writer, n)
	}
}

// Remotes returns the remotes to which something may be sent. It is an error if there are none.
func Remotes(ctx context.Context, w *workspace.Workspace) ([]*remote.Remote, error) {
	conf, err := w.Repo.Config(ctx)
	if err != nil {
		return nil, err
	}
	remotes, err := remote.Consenting(ctx, w, conf)
	if err == nil && len(remotes) == 0 {
		err = cmdline.Hint(errors.New("there is no remote that anything may be sent to"), "name one with: git agent-turn init --push <remote>")
	}
	return remotes, err
}

// Push pushes a mission that was just made, before anything else is done: the machine may vanish.
// Errors only go to talk, as the mission exists.
func Push(ctx context.Context, remotes []*remote.Remote, id ledger.ID, talk io.Writer) {
	for _, r := range remotes {
		p, err := r.Push(ctx, id)
		if err == nil {
			err = p.Branch
		}
		if err != nil {
			fmt.Fprintf(talk, "mission %s was not pushed: %s\n", id, cmdline.OneLine(err.Error()))
		}
	}
}
