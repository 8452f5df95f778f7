package hook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"gitagent/handoffstore"
	"gitagent/hooks"
	"gitagent/internal/agent"
	"gitagent/internal/contextmeter"
	"gitagent/internal/fetcher"
	"gitagent/internal/git"
	"gitagent/internal/missionstore"
	"gitagent/internal/recall"
	"gitagent/internal/record"
	"gitagent/internal/recorder"
	"gitagent/internal/session"
	"gitagent/internal/workspace"
)

// begin handles a session's start, with which its first turn may begin: that is
// recorded once, and what the agent is asked is in the file later.
func begin(ctx context.Context, h *hook) error {
	told := start(ctx, h)
	if !h.event.Begins {
		return told
	}
	news := false
	err := remember(ctx, h, func(st *contextmeter.Memory) { news = st.Hear(h.digest) })
	if err == nil && news {
		err = prompt(ctx, h)
	}
	return errors.Join(told, err)
}

// start does what a session's start is for: it hands off for dead sessions that did not,
// and tells the starting one what to continue.
func start(ctx context.Context, h *hook) error {
	if source := h.event.Source; source == "clear" || source == "compact" {
		h.logError(rearm(ctx, h))
	}
	w := h.open()
	_, err := fetcher.OfBranch(ctx, w)
	h.logError(err) // the session goes on as if its mission began here
	held, err := w.Store.LockSessions(ctx, w.Repo.GitDir)
	if err != nil {
		return err
	}
	defer held.Release()
	missionstore.ClearDead(ctx, w)
	s := &handoffstore.Store{Workspace: w}
	b := handoffstore.Start{
		At: h.at.UTC(), Source: h.event.Source, Session: h.event.SessionID,
		Client: session.ReadClient(h.client.PID), Asked: h.asked(),
	}
	registry, err := agent.Running(os.Getenv)
	peers := h.withoutVisitors(ctx, w.Store.Peers(b.Session, handoffstore.MaxSessions, registry), registry)
	var gone []*handoffstore.Gathered
	if err == nil {
		gone, err = sweep(ctx, s, b, peers, registry)
		h.leftBehind(ctx, peers)
	}
	h.logError(err) // the next start tries again, and this one still tells the handoff
	told, err := s.Next(ctx, b, peers)
	if err != nil {
		return err
	}
	defer told.Close()
	answer := hooks.Answer{Event: h.event.Name}
	switch told.Scope {
	case handoffstore.Full:
		answer.Model, err = s.Tell(ctx, told.Found, b.At, func(paths []string) string {
			given, err := recall.GivenUp(ctx, w, paths)
			h.logError(err)
			return given
		})
		answer.Model += alsoGone(gone, told.ID())
	case handoffstore.Line:
		answer.Model = handoffstore.Mention(told.Handoff, b.At)
	case handoffstore.Waiting:
		text := fmt.Sprintf("git-agent: a handoff of mission %[1]s is untrusted; the agent is not told of it before you accept it, on a terminal: "+
			"git agent-handoff show %[2]s, git agent-turn trust accept %[1]s", told.In, told.ID())
		if w.Store.Tell(b.Session, fmt.Sprintf("handoff-%s-%d", told.In, told.Number), text) {
			answer.User = text
		}
	}
	if err == nil {
		err = s.Begin(ctx, b, told)
	}
	if err == nil {
		h.add(answer)
		h.logError(h.company(w))
		h.logError(noteRecall(w))
	}
	return err
}

// sweep hands off for dead peers, and marks them as ended. It returns the
// handoffs of those that did not end cleanly.
func sweep(ctx context.Context, s *handoffstore.Store, b handoffstore.Start, peers []session.Peer, registry []session.Registration) ([]*handoffstore.Gathered, error) {
	var gone []*handoffstore.Gathered
	var errs []error
	for i, p := range peers {
		left, ok := s.Abandoned(p)
		if !ok {
			continue
		}
		g, err := finishLeft(ctx, s, left, b.At, handoffstore.Request{})
		if g != nil && g.ExitType != record.Clean {
			gone = append(gone, g)
		}
		if err == nil {
			peers[i] = session.Peer{Known: s.Workspace.Store.Load(p.Session), Liveness: session.Ended}
		}
		errs = append(errs, err)
	}
	orphan, err := s.Orphan(ctx, b, registry)
	if orphan != nil {
		_, err = s.Gather(ctx, *orphan)
	}
	return gone, errors.Join(append(errs, err)...)
}

// goneWait is the wait for a transcript whose client is gone: it has written
// all to disk.
const goneWait = 100 * time.Millisecond

// finishLeft finishes a session that is gone. r has what is known of its end.
func finishLeft(ctx context.Context, s *handoffstore.Store, left handoffstore.Abandoned, at time.Time, r handoffstore.Request) (*handoffstore.Gathered, error) {
	mission, err := record.ParseID(left.Mission)
	if err != nil {
		return nil, err
	}
	r.At, r.Session, r.Transcript = at, left.Session, left.File()
	if r.Exit == "" {
		r.Exit, r.Ended = left.Exit, left.Ended
	}
	r.Agent = cmp.Or(r.Agent, left.Agent)
	_, g, err := finish(ctx, s, recorder.Signal{
		Event: recorder.Ended, At: at, Agent: left.Agent, Session: left.Session, Mission: mission, Transcript: left.File(),
		FlushWait: goneWait,
	}, r)
	return g, err
}

// alsoGone names at most two dead sessions in addition to the told handoff's.
func alsoGone(gone []*handoffstore.Gathered, told handoffstore.ID) string {
	var lines []string
	for _, g := range gone {
		if g.ID() != told && len(lines) < 2 {
			lines = append(lines, fmt.Sprintf("\nAnother session is gone, too (%s): `git agent-handoff prime %s`\n", g.ExitType, g.ID()))
		}
	}
	return strings.Join(lines, "")
}

// compact hands off before a compaction, to tell the handoff after it.
func compact(ctx context.Context, h *hook) error {
	rearmed := rearm(ctx, h)
	return errors.Join(rearmed, handOffRunning(ctx, h.open(), handoffstore.Request{
		At: h.at, Session: h.event.SessionID, Transcript: h.event.TranscriptPath, Exit: record.Clean,
	}))
}

// handOffRunning hands off for a session that goes on, if it has recorded
// anything, and forgets that it was told the handoff.
func handOffRunning(ctx context.Context, w *workspace.Workspace, r handoffstore.Request) error {
	s := &handoffstore.Store{Workspace: w}
	held, err := w.Store.LockSessions(ctx, w.Repo.GitDir)
	if err != nil {
		return err
	}
	defer held.Release()
	if err := s.Forget(ctx, r.Session); err != nil {
		return err
	}
	st := w.Store.Load(r.Session)
	if r.Mission, err = record.ParseID(st.Mission); err != nil {
		return nil // it has recorded nothing
	}
	r.Agent = st.Agent
	if st.Open != nil {
		r.Running = st.Open.Prompt
	}
	if _, err = s.Gather(ctx, r); errors.Is(err, git.ErrNotFound) {
		return nil // nothing was recorded
	}
	return err
}

// Complete fills in the session of a request. That is agent, the session that
// hands off, if it is not nil; or else, if the request says nothing, the
// mission's last session in this worktree. It reports whether the agent itself
// hands off its own mission.
func Complete(w *workspace.Workspace, r *handoffstore.Request, agent *session.Known) (own bool) {
	of := agent
	own = agent != nil && (agent.Mission == "" || agent.Mission == r.Mission)
	if !own {
		if r.Says() {
			if agent != nil {
				r.Session, r.Agent = agent.Session, cmp.Or(r.Agent, agent.Agent)
			}
			return false
		}
		if of = (&handoffstore.Store{Workspace: w}).LastSession(r.Mission); of == nil {
			return false
		}
	}
	r.Session, r.Transcript = of.Session, of.File()
	r.Agent = cmp.Or(r.Agent, of.Agent)
	if of.Open != nil {
		r.Running = of.Open.Prompt
	}
	return own
}

// HandOff carries out a request. If its session is gone, it first records the
// last turn, as the next session's start would. own says that the session's
// agent itself hands off.
func HandOff(ctx context.Context, w *workspace.Workspace, r handoffstore.Request, own bool) (*handoffstore.Gathered, error) {
	s := &handoffstore.Store{Workspace: w}
	held, err := w.Store.LockSessions(ctx, w.Repo.GitDir)
	if err != nil {
		return nil, err
	}
	defer held.Release()
	if own || r.Session == "" {
		return s.Gather(ctx, r)
	}
	registry, err := agent.Running(os.Getenv)
	if err != nil {
		return nil, err
	}
	for _, p := range w.Store.Peers("", handoffstore.MaxSessions, registry) {
		if left, over := s.Abandoned(p); over && p.Session == r.Session {
			r.Running = ""
			g, err := finishLeft(ctx, s, left, r.At, r)
			if err == nil && g == nil {
				err = fmt.Errorf("hand off mission %s: it has recorded nothing yet: %w", r.Mission, git.ErrNotFound)
			}
			return g, err
		}
	}
	return s.Gather(ctx, r)
}
