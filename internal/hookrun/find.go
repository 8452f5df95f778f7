package hookrun

import (
	"context"
	"os"
	"path/filepath"

	"gitagent/internal/git"
	"gitagent/internal/session"
)

// find finds the repository that the agent works in: the one of its directory if that is a worktree of
// the repository that the client was launched in, otherwise the latter. It is known then, unless
// nothing is to be recorded there. That costs one git process where recording is not
// enabled for the repository itself, and none where there is no repository.
func (h *Hook) find(ctx context.Context, cwd string) {
	repo, err := launched(cwd, h.Client.ProjectDir)
	if err != nil {
		return // not in a repository
	}
	if home, err := os.UserHomeDir(); repo.Top == filepath.Dir(repo.Top) || err == nil && sameDir(repo.Top, home) {
		return // nobody's project is the whole disk or the whole home
	}
	h.Repo, h.Store = repo, session.Open(repo.CommonDir)
	if !h.Store.Enabled() {
		conf, err := repo.Config(ctx)
		if err != nil || !conf.Bool("agent.record") {
			return // not enabled, and if git refuses the repository nobody has asked for it
		}
	}
	h.known = true
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
