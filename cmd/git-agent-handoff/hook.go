package main

import (
	"context"
	"errors"
	"os"

	"gitagent/handoffstore"
	"gitagent/hooks"
	"gitagent/internal/hookrun"
	"gitagent/internal/life"
	"gitagent/internal/remote"
	"gitagent/internal/session"
)

func hook(ctx context.Context, args []string) {
	hookrun.Run(ctx, "git-agent-handoff", "what the last session left could not be told", args, take)
}

// take handles an event.
func take(ctx context.Context, h *hookrun.Hook) error {
	if h.Event.AgentID != "" {
		return nil // the event is a sub-agent's
	}
	switch h.Event.Name {
	case "SessionStart":
		if source := h.Event.Source; source == "clear" || source == "compact" {
			h.LogError(rearm(ctx, h))
		}
		_, err := remote.Adopt(ctx, h.Workspace())
		h.LogError(err) // the session continues as if its mission began here
		return start(ctx, h)
	case "PreCompact":
		return errors.Join(rearm(ctx, h), life.Compact(ctx, h.Workspace(), handoffstore.Request{
			At: h.At, Session: h.Event.SessionID, Transcript: h.Event.TranscriptPath,
		}))
	case "PostToolBatch":
		return watch(ctx, h, h.Event.ToolCalls)
	case "PostToolUse":
		return watch(ctx, h, 1)
	}
	return nil
}

// start hands off for dead sessions that did not, and tells the starting one what to continue.
func start(ctx context.Context, h *hookrun.Hook) error {
	told, err := life.Start(ctx, h.Workspace(), handoffstore.Start{
		At: h.At.UTC(), Source: h.Event.Source, Session: h.Event.SessionID,
		Client: session.ReadClient(h.Client.PID), Asked: h.Asked(),
	}, os.Getenv)
	h.LogError(told.Swept)
	if err != nil {
		return err
	}
	h.Answer(hooks.Answer{Event: h.Event.Name, Model: told.Agent, User: told.User})
	return nil
}
