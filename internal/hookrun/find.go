package hookrun

import (
	"context"
	"os"
	"path/filepath"

	"gitagent/internal/git"
	"gitagent/internal/workspace"
)

// find finds the repository in which the agent works: that of its directory if that is a worktree
// of the repository in which the client was launched, otherwise the latter. It sets known if
// recording is enabled there. That costs one git process where recording is not enabled for the
// repository itself, and none where there is no repository.
func (h *Hook) find(ctx context.Context, cwd string) {
	repo, err := launched(cwd, h.Client.ProjectDir)
	if err != nil {
		return // not in a repository
	}
	if home, err := os.UserHomeDir(); repo.Top == filepath.Dir(repo.Top) || err == nil && sameDir(repo.Top, home) {
		return // the whole disk or home directory is nobody's project
	}
	w := workspace.New(repo, nil)
	h.Repo, h.Store = repo, w.Store
	h.known, _ = w.Enabled(ctx) // if git refuses the repository, nobody asked for it
}

func launched(cwd, project string) (*git.Repo, error) {
	if project == "" {
		return git.Find(cwd)
	}
	repo, err := git.Find(project)
	if err != nil || cwd == project {
		return repo, err
	}
	if here, err := git.Find(cwd); err == nil && here.CommonDir == repo.CommonDir {
		return here, nil
	}
	return repo, nil
}

func sameDir(a, b string) bool {
	ai, aerr := os.Stat(a)
	bi, berr := os.Stat(b)
	return aerr == nil && berr == nil && os.SameFile(ai, bi)
}
