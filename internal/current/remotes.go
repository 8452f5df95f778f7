package current

import (
	"context"
	"errors"
	"fmt"
	"io"

	"gitagent/internal/cmdline"
	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/remote"
)

// Remotes are those that something may be sent to. If there are none, that is an error.
func Remotes(ctx context.Context, repo *git.Repo, prefix string) ([]*remote.Remote, error) {
	conf, err := repo.Config(ctx)
	if err != nil {
		return nil, err
	}
	remotes, err := remote.Consenting(ctx, repo, conf, prefix)
	if err == nil && len(remotes) == 0 {
		err = cmdline.Hint(errors.New("there is no remote that anything may be sent to"), "name one with: git agent-turn init --push <remote>")
	}
	return remotes, err
}

// Push pushes a mission that was just made, before anything else is done: the machine may vanish. What goes wrong is said on talk; the mission is there.
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
