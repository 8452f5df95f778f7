package hook

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"gitagent/hooks"
	"gitagent/internal/contextmeter"
	"gitagent/internal/git"
	"gitagent/internal/recorder"
)

// elsewhere returns the other repositories that calls in a directory name. It
// looks at nothing but the paths that it is given if all are in the worktree.
func (h *hook) elsewhere(ctx context.Context, cwd string, calls []hooks.Call) (repos []*git.Repo) {
	home, _ := os.UserHomeDir()
	looked := make(map[string]bool)
	for _, name := range recorder.Named(cwd, home, calls) {
		if h.repo != nil && within(h.repo.Top, name) {
			continue
		}
		dir := existing(name)
		if dir == "" || looked[dir] {
			continue
		}
		looked[dir] = true
		repo, err := git.Find(dir)
		if err != nil || h.repo != nil && repo.CommonDir == h.repo.CommonDir || len(repos) > contextmeter.MaxVisits ||
			slices.ContainsFunc(repos, func(r *git.Repo) bool { return r.CommonDir == repo.CommonDir }) {
			continue
		}
		repos = append(repos, h.visited(ctx, repo, h.event.AgentID == "" && name == filepath.Clean(cwd)))
	}
	return repos
}

// visited returns the worktree in which the turn visits a repository, one for all
// that it has: that of the visit that runs, else the one that the session stands
// in or that another one works in, else the main one, or any. The others go
// with it; see [recorder.Beside].
func (h *hook) visited(ctx context.Context, repo *git.Repo, stands bool) *git.Repo {
	visits, _ := h.visits()
	for _, v := range visits {
		if at, err := git.Find(v.Top); v.Runs() && err == nil && at.Top == v.Top && at.CommonDir == repo.CommonDir {
			return at
		}
	}
	if !stands && repo.GitDir != repo.CommonDir && !recorder.Taken(repo, h.event.SessionID) {
		if one, err := standing(ctx, repo.CommonDir, repo.Main(ctx)); err == nil {
			return one
		}
	}
	return repo
}

// within reports whether a path is in a worktree, and in no repository within it.
func within(top, path string) bool {
	name, ok := git.Within(top, path)
	if !ok {
		return false
	}
	for dir := name; dir != "."; dir = filepath.ToSlash(filepath.Dir(dir)) {
		at := filepath.Join(top, filepath.FromSlash(dir))
		if info, err := os.Lstat(at); err == nil && info.Mode()&os.ModeSymlink != 0 {
			return false // it may lead out
		}
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return false
		}
	}
	return true
}

// existing returns the directory that a path is or is in, as far as it exists.
func existing(path string) string {
	for {
		info, err := os.Stat(path)
		switch {
		case err == nil && info.IsDir():
			return path
		case filepath.Dir(path) == path:
			return ""
		}
		path = filepath.Dir(path)
	}
}
