package main

import (
	"context"

	"gitagent/handoffstore"
	"gitagent/internal/hookrun"
	"gitagent/internal/ledger"
	"gitagent/internal/remote"
)

// adopt fetches the mission whose branch is checked out, where the branch has come without it: so that its numbering goes on,
// and what was handed off elsewhere is told here.
func adopt(ctx context.Context, h *hookrun.Hook) {
	if _, err := remote.Adopt(ctx, h.Repo, h.Settings().Capture.BranchPrefix); err != nil {
		h.Log(err.Error()) // the session goes on as on a mission that begins here
	}
}

// pushLater lets a handoff be pushed by a process of its own: whoever goes on may do so on another machine.
func pushLater(ctx context.Context, s *handoffstore.Store, id ledger.ID) error {
	conf, err := s.Repo.Config(ctx)
	if err == nil {
		_, err = remote.Background(ctx, s.Repo, conf, s.Capture.BranchPrefix, id, "git", "agent-turn")
	}
	return err
}
