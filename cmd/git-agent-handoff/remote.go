package main

import (
	"context"

	"gitagent/handoffstore"
	"gitagent/internal/hookrun"
	"gitagent/internal/ledger"
	"gitagent/internal/remote"
)

// adopt fetches the mission whose branch is checked out if only the branch is here, so that its
// numbering continues, and handoffs made elsewhere are told here.
func adopt(ctx context.Context, h *hookrun.Hook) {
	if _, err := remote.Adopt(ctx, h.Workspace()); err != nil {
		h.Log(err.Error()) // the session continues as if its mission began here
	}
}

// pushLater lets a process of its own push a handoff, since the work may continue on another
// machine.
func pushLater(ctx context.Context, s *handoffstore.Store, id ledger.ID) error {
	conf, err := s.Repo.Config(ctx)
	if err == nil {
		_, err = remote.Background(ctx, s.Workspace, conf, id)
	}
	return err
}
