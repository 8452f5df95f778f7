package hook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"gitagent/handoffstore"
	"gitagent/hooks"
	"gitagent/internal/agent"
	"gitagent/internal/config"
	"gitagent/internal/contextmeter"
	"gitagent/internal/limit"
	"gitagent/internal/places"
	"gitagent/internal/recorder"
	"gitagent/internal/transcript"
	"gitagent/internal/workspace"
)

// watch tells the agent after tool calls, when due, how full its context is, and
// keeps the state of the worktree. A sub-agent has another context.
func watch(ctx context.Context, h *hook) error {
	calls := h.event.ToolCalls
	if h.event.Name == "PostToolUse" {
		calls = 1
	}
	open := sync.OnceValue(h.open)
	var m contextmeter.Message
	news := false
	err := remember(ctx, h, func(st *contextmeter.Memory) {
		if news = st.Hear(h.digest); !news || h.event.AgentID != "" {
			return
		}
		if h.event.Name == "PostToolBatch" {
			h.since, st.Batch = st.Batch, h.at.UnixMilli()
		}
		if st.Event(calls) {
			m = look(h, st, &open().Settings.Context)
		}
	})
	if err == nil && m.Notice != contextmeter.None {
		h.add(hooks.Answer{Event: h.event.Name, Model: m.Text()})
	}
	if !news {
		return err
	}
	h.logError(h.recall(ctx, open))
	e := errors.Join(step(ctx, h, open), h.visit(ctx, false))
	if e != nil && err == nil { // else the user hears of that
		h.lose("what tools change within a turn is not kept", e)
	}
	return err
}

// before keeps the state that a command may be about to destroy. The agent waits
// and the client obeys an answer, so there is none, whatever happens. A client
// may run the hook several times for one command, or for each.
func before(ctx context.Context, h *hook) error {
	if h.next() != recorder.AllMayGo && !recorder.MayDestroy(h.event.Calls) {
		return nil
	}
	h.logError(recorder.Beside(ctx, h.repo, h.open, h.batch(), h.next()))
	news := false
	h.logError(remember(ctx, h, func(st *contextmeter.Memory) { news = st.Hear(h.digest) }))
	if news {
		h.logError(recorder.StepBefore(ctx, h.repo, h.open, h.batch()))
		h.logError(h.visit(ctx, true))
	}
	return nil
}

// next returns what may become of worktrees by the calls: some remove one that
// they do not name.
func (h *hook) next() recorder.Next {
	if slices.ContainsFunc(h.event.Calls, func(c hooks.Call) bool { return c.Tool == "ExitWorktree" || recorder.RemovesWorktree(c.Command) }) {
		return recorder.AllMayGo
	}
	return recorder.NamedMayGo
}

// step keeps the state that tools have left. Whether it can does not matter to
// the agent.
func step(ctx context.Context, h *hook, open func() *workspace.Workspace) error {
	return errors.Join(recorder.Step(ctx, h.repo, open, h.batch()), recorder.Beside(ctx, h.repo, open, h.batch(), recorder.Stay))
}

// sideStopped keeps what the worktree of a sub-agent holds that has ended: the
// client may remove it next.
func sideStopped(ctx context.Context, h *hook) error {
	if !h.outside {
		h.logError(recorder.Beside(ctx, h.repo, h.open, h.batch(), recorder.NamedMayGo))
	}
	h.each(h.elsewhere(ctx, h.event.Cwd, nil), func(g *hook) error {
		return recorder.Beside(ctx, g.repo, g.open, h.batch(), recorder.NamedMayGo)
	})
	return nil
}

// batch returns the event's calls as the recorder takes them.
func (h *hook) batch() recorder.Batch {
	return recorder.Batch{
		Session: h.event.SessionID, PromptID: h.event.PromptID, Agent: h.event.AgentID, Cwd: h.event.Cwd,
		Calls: h.event.Calls, Began: h.began,
	}
}

// began returns when the event's tools began, zero if nothing says so. The file
// may still lack the message that asked for them: then it was after the tools
// before had run.
func (h *hook) began() time.Time {
	switch {
	case h.event.CallBegan != 0:
		return time.UnixMilli(h.event.CallBegan)
	case h.event.AgentID != "": // the file is the session's
		return time.Time{}
	}
	asked := transcript.LastAnswer(h.agent.Reader, h.event.TranscriptPath)
	if before := time.UnixMilli(h.since); h.since != 0 && before.After(asked) {
		return before
	}
	return asked
}

// rearm begins a new cycle of messages: the earlier ones leave the context.
func rearm(ctx context.Context, h *hook) error {
	if !h.store.Monitors(h.event.SessionID) { // where it is kept, the session is at home
		return nil
	}
	return remember(ctx, h, func(st *contextmeter.Memory) {
		if h.event.Name == "PreCompact" && st.Given != contextmeter.None {
			h.log(fmt.Sprintf("session %s is compacted (%s) after its agent got the message %q: it was too late", h.event.SessionID, h.event.Trigger, st.Given))
		}
		st.Rearm()
	})
}

// remember changes the monitor's state of the session. Hooks of one session may
// run in parallel: for parallel tools, or from settings and a plugin.
func remember(ctx context.Context, h *hook, change func(*contextmeter.Memory)) error {
	ctx, cancel := limit.Within(ctx, limit.Of(ctx).Monitor)
	defer cancel()
	if h.outside { // where nothing may be yet
		if err := places.Of(os.Getenv).MakeAway(); err != nil {
			return err
		}
	}
	var st contextmeter.Memory
	return h.store.UpdateMonitor(ctx, h.event.SessionID, &st, func(known bool) {
		if !known || st.V != contextmeter.Version {
			st = contextmeter.Memory{V: contextmeter.Version}
		}
		change(&st)
	})
}

// look reads how full the context is, and returns the message for the agent.
func look(h *hook, st *contextmeter.Memory, settings *config.Context) contextmeter.Message {
	if !settings.Enabled {
		return contextmeter.Message{}
	}
	m := contextmeter.Message{Calls: st.Calls, Document: handoffstore.DocumentPath(os.Getenv, h.event.SessionID)}
	before := *st
	if err := See(h.agent, st, h.event.TranscriptPath); err != nil {
		m.Notice = st.Blind(settings.FallbackToolCount, settings.CheckFrequency)
		return m
	}
	st.Saw(st.Tokens, st.Model, "", h.event.Window)
	// It may have been compacted; for another model, that shows nothing of it.
	if st.Tokens < before.Tokens && st.Model == before.Model {
		h.logError(learn(h.agent, st, h.event.TranscriptPath, before.Size, settings))
	}
	m.Tokens, m.Limits = st.Tokens, st.Limits(settings)
	m.Notice = st.Judge(m.Limits, settings.CheckFrequency)
	return m
}

// See notes what the file of an agent's session says about its context.
func See(a *agent.Agent, st *contextmeter.Memory, path string) error {
	u, err := lastUsage(a, path)
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

func lastUsage(a *agent.Agent, path string) (transcript.ContextUse, error) {
	if a.Spent == nil {
		return transcript.LastUsage(a.Reader, path)
	}
	last, _, err := a.Spent(path)
	return last, err
}

// learn notes the size of the model's context: what it held when the client
// compacted it by itself, if the session's file says so after offset from.
func learn(a *agent.Agent, st *contextmeter.Memory, path string, from int64, settings *config.Context) error {
	all, err := transcript.Compactions(a.Reader, path, from)
	if err != nil || len(all) == 0 || !all[len(all)-1].Auto {
		return err
	}
	if fits := st.Fits(all[len(all)-1].Tokens, settings); fits > 0 {
		return config.Learn(config.UserPath(), st.Model, fits)
	}
	return nil
}
