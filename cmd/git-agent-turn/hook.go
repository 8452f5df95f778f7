package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"gitagent/hooks"
	"gitagent/internal/git"
	"gitagent/internal/hookrun"
	"gitagent/internal/life"
	"gitagent/internal/purge"
	"gitagent/internal/record"
	"gitagent/internal/remote"
	"gitagent/internal/session"
	"gitagent/internal/target"
	"gitagent/internal/terminal"
	"gitagent/turns"
)

func hookCommand() *cli.Command {
	return &cli.Command{
		Name:      "hook",
		Usage:     "take a hook's payload on standard input; for the agent's client",
		UsageText: "git agent-turn hook [--agent <name>] [--via plugin]",
		Flags:     []cli.Flag{target.AgentFlag(), target.ViaFlag()},
		Action: func(c *cli.Context) error { // reached only with flags that no client gives; see main
			hook(context.WithoutCancel(c.Context), nil)
			return nil
		},
	}
}

func hook(ctx context.Context, args []string) {
	hookrun.Run(ctx, "git-agent-turn", "a turn was not recorded", args, take)
}

// take records an event.
func take(ctx context.Context, h *hookrun.Hook) error {
	s, ok := signalOf(h.Event)
	if !ok {
		return nil
	}
	s.At, s.Agent, s.Asked = h.At, h.Agent.Name(), h.Asked()
	s.Client = session.ReadClient(h.Client.PID)
	if s.Event == turns.Prompted {
		s.ClientLock = session.ReadClientLock(h.Event.Lock)
	}
	w := h.Workspace()
	taken, err := life.Take(ctx, w, s)
	h.LogError(wake(ctx, h, s.Event))
	if err != nil {
		return err
	}
	if taken == nil { // the same event arrived twice, and the other process may end before its push
		return awaitOther(ctx, h)
	}
	for _, warning := range taken.Warnings {
		h.Log(warning)
	}
	h.LogError(housekeep(w))
	recorded := len(taken.Turns) > 0 || taken.HandedOff
	if recorded {
		_, err := remote.Background(ctx, w, taken.Config, taken.Mission)
		h.LogError(err) // the turn is recorded all the same
	}
	if s.Event == turns.Ended {
		atEnd(ctx, h, taken.Config, taken.Mission, recorded)
	}
	if taken.Aside != "" {
		text := fmt.Sprintf("somebody unknown had added to mission %s, or made it; what he recorded is mission %s now, and yours goes on without it", taken.Mission, taken.Aside)
		h.Log(text)
		h.Tell("aside", text)
	}
	if purge.Unfinished(w.Store) { // none runs, or this would have waited for it
		h.Tell("purge", "a purge was begun and has not ended; complete it with: git agent-turn purge")
	}
	if taken.Damaged != "" {
		text := fmt.Sprintf("mission %s is damaged, and this session is recorded as mission %s; see what is missing, and get it where a remote has it: "+
			"git agent-turn doctor --repair", taken.Damaged, taken.Mission)
		h.Log(text)
		h.Tell("damaged", text)
	}
	if taken.Stayed != nil {
		h.Tell("branch", fmt.Sprintf("the branch of mission %s was left where it is: %v; if no git is at work, remove that lock", taken.Mission, taken.Stayed))
	}
	return nil
}

// atEnd waits at the end of a session for its mission to be pushed, see [awaitPush], and says if it is not.
func atEnd(ctx context.Context, h *hookrun.Hook, conf git.Config, mission record.ID, started bool) {
	if h.Event.Reason == "clear" {
		return // the client lives on
	}
	late, err := awaitPush(ctx, h.Workspace(), conf, mission, started)
	h.LogError(err)
	if len(late) > 0 {
		text := fmt.Sprintf("git-agent-turn: mission %s is still being pushed to %s", mission, strings.Join(late, ", "))
		h.Answer(hooks.Answer{User: text})
	}
}

// awaitOther waits for the push of a session's end that another process has recorded: the client waits longer
// for a hook from settings than for a plugin's.
func awaitOther(ctx context.Context, h *hookrun.Hook) error {
	w := h.Workspace()
	mission, err := record.ParseID(w.Store.Load(h.Event.SessionID).Mission)
	if err != nil {
		return nil // it has recorded nothing
	}
	conf, err := w.Repo.Config(ctx)
	if err != nil {
		return err
	}
	atEnd(ctx, h, conf, mission, true)
	return nil
}

// signalOf translates a payload for package turns. ok is false for events that we don't record.
func signalOf(e *hooks.Event) (s turns.Signal, ok bool) {
	events := map[string]turns.Event{
		"UserPromptSubmit": turns.Prompted, "Stop": turns.Stopped, "StopFailure": turns.Erred, "Interrupt": turns.Halted,
		"SessionEnd": turns.Ended,
	}
	s = turns.Signal{
		Event: events[e.Name], Session: e.SessionID, PromptID: e.PromptID, Prompt: e.Prompt, Reply: e.LastAssistantMessage,
		Again: e.StopHookActive, Transcript: e.TranscriptPath,
	}
	return s, s.Event != "" && e.AgentID == ""
}

// wake starts the process that clears the agent's context, if the agent asked for that in the turn
// that ends here. The process waits for the client to be ready; a prompt given before that cancels it.
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
