package main

import (
	"context"

	"gitagent/internal/hookrun"
	"gitagent/internal/terminal"
	"gitagent/turns"
)

// wake starts the process that clears the agent's context, if the agent asked for that in the turn
// that ends here. The process waits for the client to be ready; a prompt given before that cancels
// it.
func wake(ctx context.Context, h *hookrun.Hook, event turns.Event) error {
	if event != turns.Prompted && event != turns.Stopped {
		return nil
	}
	asked, err := h.Workspace().Store.TakeWake(ctx, h.Event.SessionID)
	if err != nil || asked == nil || event == turns.Prompted {
		return err
	}
	return terminal.DetachOwn(h.Repo.Top, "git-agent-handoff", "wake", "--tmux", asked.Pane)
}
