package remote

import (
	"context"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/terminal"
)

// Background lets what a mission has recorded be pushed to every remote that something may be sent to, by a process of its own for
// each, and returns those remotes. command is a git-agent-turn: its path, or "git", "agent-turn".
func Background(ctx context.Context, repo *git.Repo, conf git.Config, prefix string, id ledger.ID, command ...string) ([]*Remote, error) {
	remotes, err := Consenting(ctx, repo, conf, prefix)
	if err != nil {
		return nil, err
	}
	for _, r := range remotes {
		if err := r.Later(id); err != nil {
			return remotes, err
		}
		// In the directory that stays when a worktree is removed.
		if err := terminal.Detach(repo.CommonDir, append(command[:len(command):len(command)], "push", "--queued", "--", r.Name)...); err != nil {
			return remotes, err
		}
	}
	return remotes, nil
}
