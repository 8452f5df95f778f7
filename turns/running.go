package turns

import (
	"context"
	"errors"
	"slices"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/session"
	"gitagent/internal/workspace"
)

// A Live is a session whose client runs, or seems to.
type Live struct {
	Session string
	Agent   string            // its name in records
	Mission record.ID         // the one that it records to
	Number  int               // of its next turn, which is the running one if Open is not nil
	Open    *session.OpenTurn // the running turn; nil if the client waits for a prompt
	Seen    time.Time         // its last event
	First   bool              // the mission's first turn is running, and nothing is recorded yet
	// Worktree is the git directory of its last worktree, or "" if unknown.
	Worktree string
	With     []string // the sessions that live in the same worktree
}

// ID returns the running turn's id, as it will be recorded.
func (l Live) ID() record.TurnID { return record.TurnID{Mission: l.Mission, Turn: l.Number} }

// maxLive is how many recent sessions are examined.
const maxLive = 64

// LiveSessions returns the live sessions of the repository, newest event first.
// registry is what their clients report of themselves.
func LiveSessions(ctx context.Context, w *workspace.Workspace, registry []session.Registration, now time.Time) ([]Live, error) {
	objects := w.Repo.Objects(ctx)
	defer objects.Close()
	var live []Live
	var peers []session.Peer
	for _, n := range w.Store.Peers("", maxLive, registry) {
		id := n.Mission
		if !id.Valid() || !n.Runs(registry, now) {
			continue
		}
		last, begun, err := LastNumber(ctx, w.Repo, objects, id)
		if err != nil {
			return nil, err
		}
		l := Live{Session: n.Session, Agent: n.Agent, Mission: id, Number: last + 1, Open: n.Open, Seen: n.Seen, Worktree: n.Worktree}
		if slices.ContainsFunc(registry, func(r session.Registration) bool { return r.Session == n.Session && r.Status == "idle" }) {
			l.Open = nil // the user has interrupted it, which is no event
		}
		l.First = !begun && l.Open != nil
		live, peers = append(live, l), append(peers, n)
	}
	for i, me := range peers {
		for _, p := range peers {
			if me.Worktree != "" && p.Beside(me.Known, me.Worktree) {
				live[i].With = append(live[i].With, p.Session)
			}
		}
	}
	return live, nil
}

// LastNumber returns a mission's last turn, or 0, and whether it has a ledger.
func LastNumber(ctx context.Context, repo *git.Repo, objects *git.Objects, id record.ID) (last int, begun bool, err error) {
	l, err := ledger.Open(ctx, repo, objects, id)
	if errors.Is(err, git.ErrNotFound) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	last, err = l.LastTurn()
	return last, true, err
}
