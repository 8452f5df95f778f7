package command

import (
	"context"
	"fmt"
	"os"

	"gitagent/internal/cmdline"
	"gitagent/internal/git"
	"gitagent/internal/places"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// Home finds the turn that has a turn's conversation, see [turns.HomeOf]. No
// agent is told of one that is untrusted there.
func Home(ctx context.Context, roll *turns.Writers, t *turns.Turn) (*turns.Elsewhere, error) {
	h, err := turns.HomeOf(ctx, places.Of(os.Getenv), roll, t)
	if err != nil || !ByAgent(ctx) {
		return h, err
	}
	if h.Turn, err = turns.Usable(ctx, h.Workspace, h.Turn); err != nil {
		return nil, fmt.Errorf("in %s: %w", git.DirOf(h.Repo.CommonDir), err)
	}
	return h, nil
}

// WithConversation returns the turn that has a turn's conversation, and its
// workspace: itself, or the one at its home if that is known.
func WithConversation(ctx context.Context, roll *turns.Writers, t *turns.Turn) (*workspace.Workspace, *turns.Turn, error) {
	if !t.Away() {
		return roll.Workspace, t, nil
	}
	h, err := Home(ctx, roll, t)
	if err != nil {
		return nil, nil, cmdline.NotFoundf("the conversation of turn %s is %w", t.After(), err)
	}
	return h.Workspace, h.Turn, nil
}
