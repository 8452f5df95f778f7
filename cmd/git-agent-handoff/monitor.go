package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"gitagent/handoffstore"
	"gitagent/hooks"
	"gitagent/internal/agent"
	"gitagent/internal/config"
	"gitagent/internal/hookrun"
	"gitagent/internal/limit"
	"gitagent/internal/monitor"
	"gitagent/internal/session"
	"gitagent/internal/transcript"
)

// watch tells the agent, after tool calls and when it is due, how full its context is.
func watch(ctx context.Context, h *hookrun.Hook, calls int) error {
	var m monitor.Message
	err := remember(ctx, h, func(st *monitor.State) {
		if st.Hear(h.Digest) && st.Event(calls) {
			m = look(h, st)
		}
	})
	if err != nil || m.Notice == monitor.None {
		return err
	}
	h.Answer(hooks.Answer{Event: h.Event.Name, Model: m.Text()})
	return nil
}

// rearm begins a new cycle of messages: the earlier ones leave the agent's context, or have left it.
func rearm(ctx context.Context, h *hookrun.Hook) error {
	return remember(ctx, h, func(st *monitor.State) {
		if h.Event.Name == "PreCompact" && st.Given != monitor.None {
			h.Log(fmt.Sprintf("session %s is compacted (%s) after its agent got the message %q: it was too late", h.Event.SessionID, h.Event.Trigger, st.Given))
		}
		st.Rearm()
	})
}

// remember changes the monitor's state of the event's session. Hooks of one session may run at the
// same time: those of parallel tools, or of settings and a plugin.
func remember(ctx context.Context, h *hookrun.Hook, change func(*monitor.State)) error {
	ctx, cancel := limit.Within(ctx, limit.Of(ctx).Monitor)
	defer cancel()
	var st monitor.State
	return h.Store.UpdateMonitor(ctx, h.Event.SessionID, &st, func(known bool) {
		if !known || st.V != monitor.Version {
			st = monitor.State{V: monitor.Version}
		}
		change(&st)
	})
}

// monitorState is the monitor's state of a session.
func monitorState(store session.Store, id string) *monitor.State {
	st := new(monitor.State)
	if !store.LoadMonitor(id, st) || st.V != monitor.Version {
		st = &monitor.State{V: monitor.Version}
	}
	return st
}

// look reads how full the context is, and returns the message for the agent.
func look(h *hookrun.Hook, st *monitor.State) monitor.Message {
	settings := h.Workspace().Settings.Context
	if !settings.Enabled {
		return monitor.Message{}
	}
	m := monitor.Message{Calls: st.Calls, Document: documentPath(h.Event.SessionID)}
	before, size := st.Tokens, st.Size
	if err := see(h.Agent, st, h.Event.TranscriptPath); err != nil {
		m.Notice = st.Blind(settings.FallbackToolCount, settings.CheckFrequency)
		return m
	}
	if st.Tokens < before { // it may have been compacted since
		h.LogError(learn(h.Agent, st, h.Event.TranscriptPath, size, &settings))
	}
	m.Tokens, m.Limits = st.Tokens, st.Limits(&settings)
	m.Notice = st.Judge(m.Limits, settings.CheckFrequency)
	return m
}

// see notes what the file of a session of an agent says about its context.
func see(a agent.Agent, st *monitor.State, path string) error {
	u, err := transcript.LastUsage(a.Reader, path)
	if err != nil {
		return err
	}
	if u.Variant == "" && st.Variant == "" && u.Window == 0 {
		if u.Variant, err = transcript.Variant(a.Reader, path); err != nil {
			return err
		}
	}
	st.Saw(u.Tokens, u.Model, u.Variant, u.Window)
	if info, err := os.Stat(path); err == nil {
		st.Size = info.Size()
	}
	return nil
}

// learn notes how much fits into the model's context: what it held when the client compacted it by itself, in
// what the session's file has from an offset on.
func learn(a agent.Agent, st *monitor.State, path string, from int64, settings *config.Context) error {
	all, err := transcript.Compactions(a.Reader, path, from)
	if err != nil || len(all) == 0 || !all[len(all)-1].Auto {
		return err
	}
	if fits := st.Fits(all[len(all)-1].Tokens, settings); fits > 0 {
		return config.Learn(config.UserPath(), st.Model, fits)
	}
	return nil
}

// documentPath is where an agent is asked to write its handoff: in nobody's worktree.
func documentPath(session string) string {
	dir := handoffstore.DataDir(os.Getenv)
	if dir == "" {
		dir = filepath.Join(os.TempDir(), "git-agent")
	}
	return filepath.Join(dir, "handoffs", session+".md")
}
