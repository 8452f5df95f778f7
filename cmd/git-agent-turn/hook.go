package main

import (
	"context"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/hooks"
	"gitagent/internal/hookrun"
	"gitagent/internal/session"
	"gitagent/turns"
)

func hookCommand() *cli.Command {
	return &cli.Command{
		Name:      "hook",
		Usage:     "take a hook's payload on standard input; for the agent's client",
		UsageText: "git agent-turn hook [--agent <name>]",
		Flags:     []cli.Flag{agentFlag()},
		Action: func(*cli.Context) error { // reached only with flags that no client gives; see main
			hook(nil)
			return nil
		},
	}
}

// flushWait is how long the end of a turn waits for the client's transcript, which is
// written up to 100 ms late.
const flushWait = 2 * time.Second

func hook(args []string) {
	hookrun.Run("git-agent-turn", "a turn was not recorded", args, take)
}

// take records what an event tells.
func take(ctx context.Context, h *hookrun.Hook) error {
	signalled, ok := signalOf(h.Event)
	if !ok {
		return nil
	}
	signalled.At = h.At
	signalled.Agent = string(h.Agent)
	signalled.Asked = os.Getenv("GIT_AGENT_MISSION")
	signalled.Client = session.ReadClient(h.Client.PID)
	settings := h.Settings()
	recorder := &turns.Recorder{Repo: h.Repo, Capture: settings.Capture, FlushWait: flushWait}
	var result *turns.Result
	var handedOff bool
	var err error
	if signalled.Event == turns.Ended {
		result, handedOff, err = end(ctx, h, recorder, settings, signalled)
	} else {
		result, err = recorder.Record(ctx, signalled)
	}
	if err := wake(ctx, h, signalled.Event); err != nil {
		h.Log(err.Error())
	}
	if err != nil || result == nil {
		return err
	}
	for _, w := range result.Warnings {
		h.Log(w)
	}
	if err := housekeep(h.Repo); err != nil {
		h.Log(err.Error())
	}
	prefix := settings.Capture.BranchPrefix
	if len(result.Turns) > 0 || handedOff {
		if err := pushLater(ctx, h.Repo, result.Config, prefix, result.Mission); err != nil {
			h.Log(err.Error()) // the turn is recorded
		}
	}
	if signalled.Event == turns.Ended && h.Event.Reason != "clear" {
		if err := awaitPush(ctx, h.Repo, result.Config, prefix, result.Mission); err != nil {
			h.Log(err.Error())
		}
	}
	return nil
}

// signalOf says a payload in the words of package turns. ok is false for events that are not ours.
func signalOf(e *hooks.Event) (s turns.Signal, ok bool) {
	s = turns.Signal{
		Session: e.SessionID, PromptID: e.PromptID, Prompt: e.Prompt, Reply: e.LastAssistantMessage,
		Again: e.StopHookActive, Transcript: e.TranscriptPath,
	}
	switch e.Name {
	case "UserPromptSubmit":
		s.Event = turns.Prompted
	case "Stop":
		s.Event = turns.Stopped
	case "StopFailure":
		s.Event = turns.Erred
	case "SessionEnd":
		s.Event = turns.Ended
	}
	return s, s.Event != "" && e.AgentID == ""
}
