package command

import (
	"context"
	"errors"
	"os"

	"gitagent/internal/cmdline"
	"gitagent/internal/places"
	"gitagent/internal/power"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// errElsewhere says why an agent is shown nothing of another repository: what it
// reads is said in its session, and recorded where that is.
var errElsewhere = errors.New("in another repository, where an agent may not read")

// Home finds the turn that has a turn's conversation, see [turns.HomeOf], for who
// may read in other repositories.
func Home(ctx context.Context, roll *turns.Writers, t *turns.Turn) (*turns.Elsewhere, error) {
	if power.Of(Actor(ctx), power.Read, power.Elsewhere) == power.No {
		return nil, errElsewhere
	}
	return turns.HomeOf(ctx, places.Of(os.Getenv), roll, t)
}

// Visits finds the records of a turn in other repositories, see [turns.VisitsOf],
// for who may read there.
func Visits(ctx context.Context, roll *turns.Writers, t *turns.Turn) ([]*turns.Elsewhere, error) {
	if power.Of(Actor(ctx), power.Read, power.Elsewhere) == power.No {
		return nil, nil
	}
	return turns.VisitsOf(ctx, places.Of(os.Getenv), roll, t)
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
