package remote

import (
	"context"

	"gitagent/internal/git"
	"gitagent/internal/record"
	"gitagent/internal/terminal"
	"gitagent/internal/workspace"
)

// Background queues a mission for every remote that the user has agreed to send
// to, starts a process for each name, and returns those remotes.
func Background(ctx context.Context, w *workspace.Workspace, conf git.Config, id record.ID) ([]*Remote, error) {
	remotes, err := Consenting(ctx, w, conf)
	if err != nil {
		return nil, err
	}
	for _, r := range remotes {
		if err := r.Later(id); err != nil {
			return remotes, err
		}
	}
	for i, r := range remotes {
		if i > 0 && remotes[i-1].Name == r.Name {
			continue // one process drains them all
		}
		if err := r.Start(ctx); err != nil {
			return remotes, err
		}
	}
	return remotes, nil
}

// Start starts a process that drains the queues of the remote's URLs, unless
// one already waits.
func (r *Remote) Start(ctx context.Context) error {
	return terminal.DetachOwn(r.Repo.Main(ctx), "git-agent-turn", "push", "--queued", "--", r.Name)
}
