package main

import (
	"context"
	"errors"

	"gitagent/handoffstore"
	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/hookrun"
	"gitagent/internal/ledger"
	"gitagent/turns"
)

// end records what a session did last, and hands off. It reports whether it has; the result is nil if there was nothing left to do.
// What this process does not live to finish is finished when the next session starts.
func end(ctx context.Context, h *hookrun.Hook, r *turns.Recorder, settings *config.Config, signalled turns.Signal) (*turns.Result, bool, error) {
	s := &handoffstore.Store{Repo: h.Repo, Capture: settings.Capture, Handoff: settings.Handoff}
	release, err := s.Lock(ctx)
	if err != nil {
		return nil, false, err
	}
	defer release()
	done, err := s.Ending(ctx, signalled.Session)
	if done || err != nil {
		return nil, false, err
	}
	result, err := r.Record(ctx, signalled)
	if err != nil {
		return nil, false, err
	}
	mission, err := ledger.ParseID(h.Store.Load(signalled.Session).Mission)
	if err != nil {
		return result, false, nil // it has recorded nothing, ever
	}
	_, err = s.Gather(ctx, handoffstore.Request{
		At: h.At, Exit: handoffstore.Clean, Ended: true, Mission: mission,
		Session: signalled.Session, Agent: signalled.Agent, Transcript: signalled.Transcript,
	})
	if errors.Is(err, git.ErrNotFound) { // it has recorded nothing
		return result, false, s.HandedOff(ctx, signalled.Session)
	}
	if err != nil {
		return result, false, err
	}
	return result, true, s.HandedOff(ctx, signalled.Session)
}
