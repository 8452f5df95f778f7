package hook

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"time"

	"gitagent/hooks"
	"gitagent/internal/contextmeter"
	"gitagent/internal/git"
	"gitagent/internal/places"
	"gitagent/internal/record"
	"gitagent/internal/recorder"
	"gitagent/internal/session"
	"gitagent/turns"
)

// leave ends the visits of the turn that has ended. r is what was recorded of it
// at home, nil if that is not known. A session that has moved in may have some
// that it began outside: the hook was killed.
func (h *hook) leave(ctx context.Context, event recorder.SignalKind, r *recorder.Result) {
	away, ours := Away()
	if h.outside && !ours {
		return
	}
	if !h.outside && ours && away.Monitors(h.event.SessionID) {
		g := *h
		g.store = away
		g.leaveAll(ctx, event, &recorder.Result{}, h.store)
	}
	h.leaveAll(ctx, event, r, h.store)
}

// leaveAll ends the visits that are noted in the hook's store, which is not that
// of the session's home for those begun outside.
func (h *hook) leaveAll(ctx context.Context, event recorder.SignalKind, r *recorder.Result, home session.Store) {
	visits, batch := h.visits()
	calls, err := h.missed(ctx, r, visits)
	if h.logError(err); len(calls) > 0 {
		visits, _ = h.visits()
	}
	visits = slices.DeleteFunc(visits, func(v contextmeter.Visit) bool { return !v.Runs() })
	if len(visits) == 0 {
		return
	}
	prompts := make(map[string]string)
	var left []*git.Repo
	for _, v := range visits {
		repo, err := trusted(ctx, v.Top)
		if err != nil && !errors.Is(err, git.ErrNotFound) {
			h.logError(err)
			continue // the next event tries again
		}
		prompts[v.Top] = v.PromptID
		if err != nil || repo.Top != v.Top {
			continue // it is gone
		}
		if on, _ := recordedAt(ctx, v.Top); on { // else somebody has said so since it began
			left = append(left, repo)
		}
	}
	s := h.farewell(ctx, event, r, home, slices.Collect(maps.Values(prompts)))
	s.Untold, s.IfChanged, s.Client = calls, true, session.Client{}
	if s.Event == recorder.Halted && batch != 0 {
		s.Began = time.UnixMilli(batch)
	}
	signal := func(top string) recorder.Signal {
		to := s
		to.PromptID = prompts[top]
		return to
	}
	failed := make(map[string]bool)
	if h.outside {
		left = h.moveIn(ctx, left, failed, signal, &s)
	}
	maps.Copy(failed, h.each(left, func(g *hook) error {
		_, err := g.endHere(ctx, signal(g.repo.Top))
		return err
	}))
	h.logError(remember(ctx, h, func(st *contextmeter.Memory) {
		for i := range st.Visits {
			v := &st.Visits[i]
			if of, ended := prompts[v.Top]; ended && of == v.PromptID && !failed[v.Top] { // else the next event tries again
				v.Over = true
			}
		}
	}))
}

// visits returns the visits of the session, also those that are over, and when
// its last batch of calls had run, in ms, 0 if that is unknown.
func (h *hook) visits() (visits []contextmeter.Visit, batch int64) {
	var st contextmeter.Memory
	h.store.LoadMonitor(h.event.SessionID, &st)
	return st.Visits, st.Batch
}

// missed begins the visits of the turn that has ended which no hook has begun: it
// was killed, or not run for a call of which the conversation tells. It returns
// the calls of which the visited repositories may lack some.
func (h *hook) missed(ctx context.Context, r *recorder.Result, visits []contextmeter.Visit) (calls []hooks.Call, err error) {
	var turn session.OpenTurn
	if t := lastOf(r); t != nil {
		turn = session.OpenTurn{PromptID: t.PromptID, Prompt: t.Prompt, Started: t.Started}
	}
	found := make(map[string]*git.Repo)
	var named []string
	if r != nil && len(r.Elsewhere) > 0 {
		calls = r.Elsewhere
		for _, repo := range h.elsewhere(ctx, h.repo.Top, calls) {
			named, found[repo.Top] = append(named, repo.Top), repo
		}
	}
	tops, of, killed := contextmeter.Missed(visits, named, turn.PromptID)
	if turn.PromptID = of; killed {
		calls = append(calls, hooks.Call{ID: "missed", Effect: hooks.Anything})
	}
	var begin []*git.Repo
	for _, top := range tops {
		repo := found[top]
		if repo == nil {
			repo, _ = git.Find(top)
		}
		if repo != nil {
			begin = append(begin, repo)
		}
	}
	if len(begin) == 0 {
		return calls, nil
	}
	g := *h
	g.event = &hooks.Payload{SessionID: h.event.SessionID}
	s, begun, err := g.opening(ctx, begin, turn, func() time.Time { return time.Time{} })
	if err != nil {
		return calls, err
	}
	h.each(begin, func(g *hook) error {
		_, err := h.beginIn(ctx, g, begun[g.repo.Top], s)
		return err
	})
	return calls, nil
}

// farewell returns how a turn with one of some prompts ends in visited
// repositories. A session without a home has nothing recorded yet.
func (h *hook) farewell(ctx context.Context, event recorder.SignalKind, r *recorder.Result, home session.Store, prompts []string) recorder.Signal {
	last := lastOf(r)
	if last == nil && !h.outside {
		if last = h.lastAtHome(ctx, h.repo, home, prompts); last != nil && last.Outcome == record.Done {
			event = recorder.Stopped
		}
	}
	s := h.signal(event)
	switch {
	case !h.outside:
		s = asVisited(s, home.Load(s.Session), last)
		s.Prompt = h.reported(s.Prompt)
	case h.off:
		s.Prompt, s.Reply = "", ""
	case event == recorder.Halted:
		s.Prompt = "" // it is the next turn's
	}
	s.Asked = ""
	return s
}

// asVisited returns a turn's end as visited repositories learn of it: which turn
// at home has the conversation, and of that no more than prompt and reply as they
// are recorded there. last is nil if nothing was recorded at home.
func asVisited(s recorder.Signal, home *session.Known, last *turns.Turn) recorder.Signal {
	s.Away, s.Transcript, s.Prompt, s.Reply = true, "", "", ""
	if s.Home = turnAtHome(home, last); last != nil {
		s.Prompt, s.Reply = last.Prompt, last.Reply
	}
	return s
}

// turnAtHome returns which turn at home has the conversation, as far as known.
func turnAtHome(st *session.Known, t *turns.Turn) *record.TurnID {
	switch {
	case t != nil:
		return &record.TurnID{Mission: t.Mission, Turn: t.Turn}
	case st.Mission.Valid():
		return &record.TurnID{Mission: st.Mission}
	}
	return nil
}

// endHere records the end of a turn in a visited repository, and returns the last
// one that was recorded, nil if none was.
func (h *hook) endHere(ctx context.Context, s recorder.Signal) (*turns.Turn, error) {
	w := h.open()
	result, err := recorder.Record(ctx, w, s)
	if err != nil || len(result.Turns) == 0 {
		return nil, err
	}
	h.follow(ctx, w, result, true)
	if noted := places.Of(os.Getenv); noted.Dir() != nil {
		h.logError(noted.NoteRepository(h.repo.CommonDir))
	}
	return lastOf(result), nil
}

// lastOf returns the last turn that an event recorded, or nil.
func lastOf(r *recorder.Result) *turns.Turn {
	if r == nil || len(r.Turns) == 0 {
		return nil
	}
	return r.Turns[len(r.Turns)-1]
}
