// Package current finds what a command works on, where the command line does not say:
// the repository of the current directory, the configuration that is in effect there, and the mission.
package current

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"gitagent/hooks"
	"gitagent/internal/cmdline"
	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/session"
)

// Repo finds the repository of the current directory.
func Repo(ctx context.Context) (*git.Repo, error) {
	repo, err := git.Open(ctx)
	if errors.Is(err, git.ErrNotFound) {
		return nil, cmdline.Hint(errors.New("not in a git repository"), "change into one, or name it with -C <dir>")
	}
	return repo, err
}

// Settings are the user's and the repository's. Unlike a hook, a command insists on all of it being right.
func Settings(repo *git.Repo) (*config.Config, error) {
	return config.Load(config.UserPath(), filepath.Join(repo.Top, config.RepoFile))
}

// Mission is the mission that a command works on: the one that is named, else that of the branch, that of the session whose agent
// runs the command, the one that was recorded last in this worktree, which is said on talk,
// and in a clone without local state the only one. It is empty if there is none.
func Mission(ctx context.Context, repo *git.Repo, prefix, named string, talk io.Writer) (ledger.ID, error) {
	if named != "" {
		id, err := ledger.ParseID(named)
		if err != nil {
			return "", cmdline.Usagef("%w", err)
		}
		return id, nil
	}
	branch, err := repo.HeadRef(ctx)
	if err != nil {
		return "", err
	}
	if branch == "" {
		branch = repo.RebasedBranch()
	}
	if id, ok := ledger.OfBranch(branch, prefix); ok {
		return id, nil
	}
	store := session.Open(repo.CommonDir)
	if id := hooks.ReadClient(os.Getenv).SessionID; id != "" {
		if m, err := ledger.ParseID(store.Load(id).Mission); err == nil {
			return m, nil
		}
	}
	var last *session.State
	for _, st := range store.All() {
		if st.Worktree == repo.GitDir && st.Mission != "" && (last == nil || st.Seen.After(last.Seen)) {
			last = st
		}
	}
	if last != nil {
		fmt.Fprintf(talk, "mission %s\n", cmdline.Escape(last.Mission))
		return ledger.ParseID(last.Mission)
	}
	return only(ctx, repo)
}

// only is the mission, if there is just one.
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
