package hook

import (
	"context"
	"os"
	"slices"
	"time"

	"gitagent/hooks"
	"gitagent/internal/agent"
	"gitagent/internal/contextmeter"
	"gitagent/internal/git"
	"gitagent/internal/places"
	"gitagent/internal/recorder"
	"gitagent/internal/session"
)

// withoutVisitors returns the peers that are at home here. The visits of others
// whose clients are gone end: their homes may never be opened again.
func (h *hook) withoutVisitors(ctx context.Context, peers []session.Peer, registry []session.Registration) []session.Peer {
	return slices.DeleteFunc(peers, func(p session.Peer) bool {
		if p.Away && p.Open != nil && p.Liveness != session.Lives && !p.Runs(registry, h.at) {
			h.endVisit(ctx, p)
		}
		return p.Away
	})
}

// endVisit ends the visit of a session whose client is gone, in the worktree that
// it is of, if that is still there.
func (h *hook) endVisit(ctx context.Context, p session.Peer) {
	there, err := trusted(ctx, p.Top)
	if err != nil || there.GitDir != p.Worktree {
		return
	}
	s := recorder.Signal{
		Event: recorder.Halted, At: h.at, Agent: p.Agent, Session: p.Session, PromptID: p.Open.PromptID,
		Away: true, IfChanged: true,
	}
	at, _ := Away()
	if home := places.Of(os.Getenv).Home(p.Session); home != "" {
		at = session.Open(home)
		s.Home = turnAtHome(at.Load(p.Session), nil)
	}
	var m contextmeter.Memory
	if at.LoadMonitor(p.Session, &m); m.Batch != 0 {
		s.Began = time.UnixMilli(m.Batch)
	}
	h.each([]*git.Repo{there}, func(g *hook) error {
		_, err := g.endHere(ctx, s)
		return err
	})
}

// leftBehind ends the visits of dead sessions whose last turn at home is recorded
// now.
func (h *hook) leftBehind(ctx context.Context, peers []session.Peer) {
	for _, p := range peers {
		if p.Liveness == session.Lives || p.Last == nil || p.Open != nil {
			continue
		}
		g := *h
		g.agent = agent.Of(p.Agent)
		g.event = &hooks.Payload{SessionID: p.Session, Cwd: h.event.Cwd}
		g.leave(ctx, recorder.Halted, nil)
	}
}
