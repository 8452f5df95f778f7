package main

import (
	"context"

	"gitagent/internal/hookrun"
	"gitagent/internal/terminal"
	"gitagent/turns"
)

// wake starts what clears the agent's context, if the agent has asked for that in the turn that ends here.
// It waits for the client to be ready, in a process of its own. A prompt that somebody gives before that cancels it.
func wake(ctx context.Context, h *hookrun.Hook, event turns.Event) error {
	if event != turns.Prompted && event != turns.Stopped {
		return nil
	}
	asked, err := h.Store.TakeWake(ctx, h.Event.SessionID)
	if err != nil || asked == nil || event == turns.Prompted {
		return err
	}
	return terminal.Detach(h.Repo.Top, "git-agent-handoff", "wake", "--tmux", asked.Pane)
}
