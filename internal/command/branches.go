package command

import (
	"context"
	"strings"

	"gitagent/internal/cmdline"
	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/workspace"
)

// BranchInTheWay returns the branch, if any, that keeps missions from having
// branches of the prefix: there is no agent/mission/<id> beside a branch agent.
func BranchInTheWay(ctx context.Context, repo *git.Repo, prefix string) (string, error) {
	var names []string
	for i, c := range prefix {
		if c == '/' {
			names = append(names, "refs/heads/"+prefix[:i])
		}
	}
	if len(names) == 0 {
		return "", nil
	}
	refs, err := repo.Refs(ctx, names...)
	for _, name := range names {
		if _, there := refs[name]; there {
			return strings.TrimPrefix(name, "refs/heads/"), nil
		}
	}
	return "", err
}

// Branchless adds to an error, that a mission with a branch was not made, which
// branch is in the way, if one is.
func Branchless(ctx context.Context, w *workspace.Workspace, err error) error {
	prefix := w.Settings.Capture.BranchPrefix
	branch, e := BranchInTheWay(ctx, w.Repo, prefix)
	if e != nil || branch == "" {
		return err
	}
	return cmdline.Hintf(err, "the branch %s is in the way of %s<id>: rename it, or set another capture.branch_prefix in %s",
		cmdline.Escape(branch), cmdline.Escape(prefix), cmdline.Escape(config.UserPath()))
}
