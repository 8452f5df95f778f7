package life

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"gitagent/handoffstore"
	"gitagent/internal/agent"
	"gitagent/internal/git"
	"gitagent/internal/record"
	"gitagent/internal/session"
	"gitagent/internal/workspace"
)

// Compact hands off before a session's conversation is compacted; afterwards the conversation is
// told the handoff. r says when, for which session, and where its file is.
func Compact(ctx context.Context, w *workspace.Workspace, r handoffstore.Request) error {
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
	mission, err := record.ParseID(st.Mission)
	if err != nil {
		return nil // it has recorded nothing
	}
	r.Mission, r.Exit, r.Agent = mission, handoffstore.Clean, st.Agent
	if st.Open != nil {
		r.Running = st.Open.Prompt
	}
	if _, err = s.Gather(ctx, r); errors.Is(err, git.ErrNotFound) {
		return nil // nothing was recorded
	}
	return err
}

// Complete fills in which session a request is about, with what is known of it: agent, the session
// whose agent hands off, which may be nil; otherwise, if the request says nothing, the mission's
// last session in this worktree. It reports whether the agent itself hands off.
func Complete(w *workspace.Workspace, r *handoffstore.Request, agent *session.State) (own bool) {
	of := agent
	own = agent != nil && (agent.Mission == "" || agent.Mission == r.Mission)
	if !own {
		if r.Says() {
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

// HandOff carries out a request. If its session is gone, that session's last turn is recorded
// first, as the next session's start would do; own says that the session's agent itself hands off,
// getenv is [os.Getenv] or a stand-in.
func HandOff(ctx context.Context, w *workspace.Workspace, r handoffstore.Request, own bool, getenv func(string) string) (*handoffstore.Gathered, error) {
	s := &handoffstore.Store{Workspace: w}
	held, err := w.Store.LockSessions(ctx, w.Repo.GitDir)
	if err != nil {
		return nil, err
	}
	defer held.Release()
	if own || r.Session == "" {
		return s.Gather(ctx, r)
	}
	registry, err := agent.Running(getenv)
	if err != nil {
		return nil, err
	}
	for _, n := range w.Store.Peers("", handoffstore.MaxSessions, registry) {
		if left, over := s.Abandoned(n); over && n.Session == r.Session {
			r.Running = ""
			g, err := handOffLeft(ctx, s, left, r.At, r)
			if err == nil && g == nil {
				err = fmt.Errorf("hand off mission %s: it has recorded nothing yet: %w", r.Mission, git.ErrNotFound)
			}
			return g, err
		}
	}
	return s.Gather(ctx, r)
}
