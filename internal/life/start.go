package life

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"gitagent/handoffstore"
	"gitagent/internal/agent"
	"gitagent/internal/record"
	"gitagent/internal/session"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// A Started is what a starting session is told.
type Started struct {
	Agent string // into its context; empty for nothing
	User  string // to the user alone; empty for nothing
	// Swept is what went wrong in handing off for dead sessions. The next start tries again; this
	// session is told its handoff all the same.
	Swept error
}

// Start hands off for dead sessions that did not do so themselves, and tells the starting session
// what to continue. getenv is [os.Getenv] or a stand-in.
func Start(ctx context.Context, w *workspace.Workspace, b handoffstore.Start, getenv func(string) string) (started Started, err error) {
	s := &handoffstore.Store{Workspace: w}
	held, err := w.Store.LockSessions(ctx, w.Repo.GitDir)
	if err != nil {
		return started, err
	}
	defer held.Release()
	(&turns.Recorder{Workspace: w}).ClearDead(ctx)
	registry, unread := agent.Running(getenv)
	peers := w.Store.Peers(b.Session, handoffstore.MaxSessions, registry)
	var gone []*handoffstore.Gathered
	if unread == nil {
		gone, unread = sweep(ctx, s, b, peers, registry)
	}
	started.Swept = unread
	told, err := s.Next(ctx, b, peers)
	if err != nil {
		return started, err
	}
	defer told.Close()
	switch told.Scope {
	case handoffstore.Full:
		started.Agent, err = s.Tell(ctx, told.Found, b.At)
		started.Agent += alsoGone(gone, told)
	case handoffstore.Line:
		started.Agent = handoffstore.Mention(told.Handoff, b.At)
	case handoffstore.Waiting:
		text := fmt.Sprintf("git-agent: a handoff of mission %[1]s was made by somebody unknown; the agent is not told of it before you accept it, on a terminal: "+
			"git agent-handoff show %[2]s, git agent-turn trust accept %[1]s", told.In, told.ID())
		if w.Store.Tell(b.Session, fmt.Sprintf("handoff-%s-%d", told.In, told.Number), text) {
			started.User = text
		}
	}
	if err == nil {
		err = s.Begin(ctx, b, told)
	}
	return started, err
}

// sweep hands off for dead peers, and marks them as ended. It returns the handoffs of those
// that did not end cleanly.
func sweep(ctx context.Context, s *handoffstore.Store, b handoffstore.Start, peers []session.Peer, registry []session.Registration) ([]*handoffstore.Gathered, error) {
	var gone []*handoffstore.Gathered
	var errs []error
	for i, n := range peers {
		left, ok := s.Abandoned(n)
		if !ok {
			continue
		}
		g, err := handOffLeft(ctx, s, left, b.At, handoffstore.Request{})
		if g != nil && g.ExitType != handoffstore.Clean {
			gone = append(gone, g)
		}
		if err == nil {
			peers[i] = session.Peer{State: s.Workspace.Store.Load(n.Session), Liveness: session.Ended}
		}
		errs = append(errs, err)
	}
	orphan, err := s.Orphan(ctx, b, registry)
	if orphan != nil {
		_, err = s.Gather(ctx, *orphan)
	}
	return gone, errors.Join(append(errs, err)...)
}

// handOffLeft finishes a session that is gone. r holds whatever else is known of its end.
func handOffLeft(ctx context.Context, s *handoffstore.Store, left handoffstore.Abandoned, at time.Time, r handoffstore.Request) (*handoffstore.Gathered, error) {
	mission, err := record.ParseID(left.Mission)
	if err != nil {
		return nil, err
	}
	r.At, r.Session, r.Transcript = at, left.Session, left.File()
	if r.Exit == "" {
		r.Exit, r.Ended = left.Exit, left.Ended
	}
	r.Agent = cmp.Or(r.Agent, left.Agent)
	_, g, err := finish(ctx, s, turns.Signal{
		Event: turns.Ended, At: at, Agent: left.Agent, Session: left.Session, Mission: mission, Transcript: left.File(),
	}, goneWait, r)
	return g, err
}

// alsoGone names the dead sessions other than the one that is told. There are rarely any.
func alsoGone(gone []*handoffstore.Gathered, told *handoffstore.Briefing) string {
	const most = 3
	var b strings.Builder
	for _, g := range gone {
		if g.ID() != told.ID() && strings.Count(b.String(), "\n") <= most {
			fmt.Fprintf(&b, "\nAnother session is gone, too (%s): `git agent-handoff prime %s`\n", g.ExitType, g.ID())
		}
	}
	return b.String()
}
