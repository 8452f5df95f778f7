package command

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"gitagent/internal/cmdline"
	"gitagent/internal/git"
	"gitagent/internal/record"
	"gitagent/internal/workspace"
)

// InUse adds to an error that a mission's worktree can't be removed what lets
// it be, by what keeps it now. drop is the command that removes it with all
// that is in it, "" if that was just tried.
func InUse(ctx context.Context, w *workspace.Workspace, id record.ID, drop string, err error) error {
	list, e := w.Repo.Worktrees(ctx)
	if e != nil {
		return err
	}
	var paths []string
	for i, at := range list {
		if at.Branch == w.Branch(id) {
			if i == 0 || git.SameFile(at.Path, w.Repo.Top) {
				return cmdline.Hint(err, "take another branch there: "+shell("git", "-C", at.Path, "switch", "--detach"))
			}
			paths = append(paths, at.Path)
		}
	}
	switch len(paths) {
	case 0:
		return err
	case 1:
	default:
		return cmdline.Hint(err, "take another branch in one of them: "+shell("git", "-C", paths[1], "switch", "--detach"))
	}
	path := paths[0]
	at, e := git.Find(path)
	switch {
	case e != nil && exists(filepath.Join(path, ".git")):
		return cmdline.Hint(err, "it leads to where the repository is not; if that was moved to here: "+"git worktree repair")
	case e != nil:
		return err
	case !git.SameFile(at.CommonDir, w.Repo.CommonDir):
		return cmdline.Hintf(err, "%s is a worktree of %s, of which this repository may be a copy; to forget it here: %s", cmdline.Escape(path), cmdline.Escape(at.CommonDir), forget(w.Repo, path))
	case exists(filepath.Join(at.GitDir, "locked")):
		return cmdline.Hint(err, "somebody has locked it; once nobody needs it: "+shell("git", "worktree", "unlock", path))
	case drop == "":
		return err
	}
	return cmdline.Hint(err, "commit or move what is worth keeping; to drop all that is there: "+drop)
}

func shell(words ...string) string { return cmdline.Shell(words) }

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, os.ErrNotExist)
}

// forget returns the command that removes what a repository knows of a linked
// worktree, and nothing of the worktree.
func forget(repo *git.Repo, path string) string {
	for _, file := range repo.Glob("worktrees/*/gitdir") {
		data, err := os.ReadFile(file)
		there := filepath.FromSlash(strings.TrimSpace(string(data)))
		if !filepath.IsAbs(there) {
			there = filepath.Join(filepath.Dir(file), there)
		}
		if err == nil && git.SameFile(filepath.Dir(there), path) {
			return shell("rm", "-r", filepath.Dir(file))
		}
	}
	return shell("git", "worktree", "prune")
}
