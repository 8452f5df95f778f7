package main

import (
	"context"
	"errors"

	"github.com/urfave/cli/v2"

	"gitagent/internal/hookrun"
)

func hookCommand() *cli.Command {
	return &cli.Command{
		Name:      "hook",
		Usage:     "take a hook's payload on standard input; for the agent's client",
		UsageText: "git agent-handoff hook [--agent <name>]",
		Flags:     []cli.Flag{&cli.StringFlag{Name: "agent", Usage: "the agent is `<name>`: claude, codex or opencode", Value: "claude"}},
		Action: func(*cli.Context) error { // reached only with flags that no client gives; see main
			hook(nil)
			return nil
		},
	}
}

func hook(args []string) {
	hookrun.Run("git-agent-handoff", "what the last session left could not be told", args, take)
}

// take does what an event asks for.
func take(ctx context.Context, h *hookrun.Hook) error {
	if h.Event.AgentID != "" {
		return nil // a sub-agent's
	}
	switch h.Event.Name {
	case "SessionStart":
		if source := h.Event.Source; source == "clear" || source == "compact" {
			if err := rearm(ctx, h); err != nil {
				h.Log(err.Error())
			}
		}
		adopt(ctx, h)
		return startSession(ctx, h)
	case "PreCompact":
		return errors.Join(rearm(ctx, h), compact(ctx, h))
	case "PostToolBatch":
		return watch(ctx, h, h.Event.ToolCalls)
	case "PostToolUse":
		return watch(ctx, h, 1)
	}
	return nil
}
