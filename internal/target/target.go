// Package target finds what a command works on if the command line does not say: the repository of
// the current directory, the mission, the turn, the remotes.
package target

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/urfave/cli/v2"

	"gitagent/hooks"
	"gitagent/internal/cmdline"
	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/session"
	"gitagent/internal/workspace"
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

// Workspace opens the repository of the current directory. Unlike a hook, a command requires all
// settings to be valid.
func Workspace(ctx context.Context) (*workspace.Workspace, error) {
	w, err := open(ctx)
	if err != nil {
		return nil, err
	}
	return w, nil
}

// Hooked is [Workspace] for a process started by a hook. It uses the settings that are valid; the
// hook has reported the others.
func Hooked(ctx context.Context) (*workspace.Workspace, error) {
	w, err := open(ctx)
	if w != nil {
		return w, nil
	}
	return nil, err
}

// open returns the workspace even with an error, if that is about the settings.
func open(ctx context.Context) (*workspace.Workspace, error) {
	repo, err := git.Open(ctx)
	if errors.Is(err, git.ErrNotFound) {
		return nil, cmdline.Hint(errors.New("not in a git repository"), "change into one, or name it with -C <dir>")
	}
	if err != nil {
		return nil, err
	}
	return workspace.Open(repo)
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
// branch's, that of the session whose agent runs the command, the one recorded last in this
// worktree (announced on talk), and in a clone without local state the only one. It is empty if
// there is none.
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
	id := hooks.ReadClient(os.Getenv).SessionID
	if id == "" {
		return nil
	}
	return w.Store.Load(id)
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
