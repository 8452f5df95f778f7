package target

import (
	"context"
	"errors"
	"fmt"
	"io"

	"gitagent/internal/cmdline"
	"gitagent/internal/ledger"
	"gitagent/internal/remote"
	"gitagent/internal/workspace"
)

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
