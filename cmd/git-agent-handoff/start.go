package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"gitagent/handoffstore"
	"gitagent/hooks"
	"gitagent/internal/git"
	"gitagent/internal/hookrun"
	"gitagent/internal/ledger"
	"gitagent/internal/session"
	"gitagent/turns"
)

// startSession hands off for those that could not do so themselves, and tells the session that starts what is to be continued.
func startSession(ctx context.Context, h *hookrun.Hook) error {
	s := storeOf(h.Repo, h.Settings())
	release, err := s.Lock(ctx)
	if err != nil {
		return err
	}
	defer release()
	begin := handoffstore.Start{
		At: h.At.UTC(), Source: h.Event.Source, Session: h.Event.SessionID,
		Client: session.ReadClient(h.Client.PID), Asked: os.Getenv("GIT_AGENT_MISSION"),
	}
	gone, err := sweep(ctx, h, s, begin)
	if err != nil {
		h.Log(err.Error()) // it is tried again at the next start, and does not keep this one from being told
	}
	told, err := s.Next(ctx, begin)
	if err != nil {
		return err
	}
	defer told.Close()
	answer, err := answer(ctx, h, told)
	if err != nil {
		return err
	}
	answer.Model += alsoGone(gone, told)
	if err := s.Begin(ctx, begin, told); err != nil {
		return err
	}
	return answer.Write(os.Stdout)
}

// sweep hands off for sessions that are gone: what they did last is recorded as a turn first. It returns what was not a clean end.
func sweep(ctx context.Context, h *hookrun.Hook, s *handoffstore.Store, b handoffstore.Start) ([]*handoffstore.Gathered, error) {
	registry, err := session.Registrations(h.Agent.ConfigDir(os.Getenv))
	if err != nil {
		return nil, err
	}
	var gone []*handoffstore.Gathered
	var errs []error
	for _, left := range s.Left(b.Session, registry) {
		g, err := handOffLeft(ctx, h, s, left)
		if g != nil && g.ExitType != handoffstore.Clean {
			gone = append(gone, g)
		}
		errs = append(errs, err)
	}
	orphan, err := s.Orphan(ctx, b, registry)
	if orphan != nil {
		_, err = s.Gather(ctx, handoffstore.Request{
			At: h.At, Exit: handoffstore.Crash, Mission: orphan.Mission, Session: orphan.Session, Agent: orphan.Agent,
		})
	}
	return gone, errors.Join(append(errs, err)...)
}

func handOffLeft(ctx context.Context, h *hookrun.Hook, s *handoffstore.Store, left handoffstore.Left) (*handoffstore.Gathered, error) {
	if err := recordLeft(ctx, s, left, h.At); err != nil {
		return nil, err
	}
	g, err := s.Gather(ctx, handoffstore.Request{
		At: h.At, Exit: left.Exit, Ended: left.Ended, Mission: ledger.ID(left.Mission), Session: left.Session, Agent: left.Agent, Transcript: left.Transcript,
	})
	if err != nil && !errors.Is(err, git.ErrNotFound) { // it has recorded nothing
		return nil, err
	}
	return g, s.HandedOff(ctx, left.Session)
}

// recordLeft records what a session that is gone did last.
func recordLeft(ctx context.Context, s *handoffstore.Store, left handoffstore.Left, at time.Time) error {
	mission, err := ledger.ParseID(left.Mission)
	if err != nil {
		return err
	}
	recorder := &turns.Recorder{Repo: s.Repo, Capture: s.Capture, FlushWait: flushWait}
	_, err = recorder.Record(ctx, turns.Signal{
		Event: turns.Ended, At: at, Agent: left.Agent, Session: left.Session, Mission: mission, Transcript: left.Transcript,
	})
	if err != nil {
		return fmt.Errorf("record the end of session %s: %w", left.Session, err)
	}
	return nil
}

// alsoGone names those that are gone as well, when only one of them is told. There are seldom two.
func alsoGone(gone []*handoffstore.Gathered, told *handoffstore.Told) string {
	const most = 3
	var b strings.Builder
	for _, g := range gone {
		if told.Extent == handoffstore.Full && g.ID() != told.ID() && strings.Count(b.String(), "\n") <= most {
			fmt.Fprintf(&b, "\nAnother session is gone, too (%s): `git agent-handoff prime %s`\n", g.ExitType, g.ID())
		}
	}
	return b.String()
}

// flushWait is how long the last turn of a session that is gone waits for what its client wrote last: that is on the disk.
const flushWait = 100 * time.Millisecond

// answer is what the client is told of a handoff.
func answer(ctx context.Context, h *hookrun.Hook, told *handoffstore.Told) (hooks.Answer, error) {
	a := hooks.Answer{Event: h.Event.Name}
	var err error
	switch told.Extent {
	case handoffstore.Full:
		a.Model, err = primed(ctx, told.Found, h.Repo, h.At)
	case handoffstore.Line:
		a.Model = handoffstore.Mention(told.Handoff, h.At)
	case handoffstore.Waiting:
		a.User = fmt.Sprintf("git-agent: a handoff of mission %s was made by another committer; the agent is not told of it before you accept it: "+
			"git agent-handoff show %s, git agent-handoff accept %s", told.In, told.ID(), told.ID())
	}
	return a, err
}

// compact hands off before the conversation loses what it knows: it is told again afterwards.
func compact(ctx context.Context, h *hookrun.Hook) error {
	st := h.Store.Load(h.Event.SessionID)
	mission, err := ledger.ParseID(st.Mission)
	if err != nil {
		return nil // it has recorded nothing
	}
	s := storeOf(h.Repo, h.Settings())
	release, err := s.Lock(ctx)
	if err != nil {
		return err
	}
	defer release()
	r := handoffstore.Request{
		At: h.At, Exit: handoffstore.Clean, Mission: mission, Session: st.Session, Agent: st.Agent, Transcript: h.Event.TranscriptPath,
	}
	if st.Open != nil {
		r.Running = st.Open.Prompt
	}
	_, err = s.Gather(ctx, r)
	if errors.Is(err, git.ErrNotFound) {
		return nil // nothing was recorded
	}
	return err
}
