package hook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"gitagent/hooks"
	"gitagent/internal/contextmeter"
	"gitagent/internal/git"
	"gitagent/internal/places"
	"gitagent/internal/recorder"
	"gitagent/internal/session"
)

// A session visits a repository that is not its home when its tools act there:
// from the first call of a turn that names something in it to the turn's end (see
// leave.go). Which ones is in the memory of the session, at home or, while it has
// no home, in a directory of the user's.

// visit begins the visits of the event's calls that are new, and hands each
// repository its step. exact says that the calls have not run yet.
func (h *hook) visit(ctx context.Context, exact bool) error {
	found := h.elsewhere(ctx, h.event.Cwd, h.event.Calls)
	if len(found) == 0 {
		return h.wentOn(ctx, exact)
	}
	began := h.began
	if exact {
		began = nil
	}
	turn := turnOf(h.store.Load(h.event.SessionID), h.event.PromptID, h.event.AgentID != "")
	s, visits, err := h.opening(ctx, found, turn, began)
	if err != nil && h.outside { // it is told where a turn is lost by it
		h.each(found, func(g *hook) error {
			if on, _ := recordedAt(ctx, g.repo.Top); !on {
				return nil
			}
			return err
		})
		return nil
	}
	if err != nil {
		return err
	}
	if slices.ContainsFunc(found, func(r *git.Repo) bool { return visits[r.Top].Beyond }) {
		h.tell("visits", fmt.Sprintf("what this turn changes in more than %d other repositories is not recorded", contextmeter.MaxVisits))
	}
	h.each(found, func(g *hook) error {
		on, err := h.beginIn(ctx, g, visits[g.repo.Top], s)
		switch {
		case err != nil || !on:
			return err
		case exact:
			return errors.Join(recorder.StepBefore(ctx, g.repo, g.open, h.batch()), recorder.Beside(ctx, g.repo, g.open, h.batch(), h.next()))
		}
		b := h.batch()
		b.PromptID, b.Began = s.PromptID, func() time.Time { return s.Began }
		if b.Agent == "" || b.In(ctx, g.repo) { // else a sub-agent has worked in another worktree of it
			err = recorder.Step(ctx, g.repo, g.open, b)
		}
		return errors.Join(err, recorder.Beside(ctx, g.repo, g.open, b, recorder.Stay))
	})
	return nil
}

// wentOn notes when calls have run that are in no other repository, if the session
// is outside and visits some: at home that is noted anyway.
func (h *hook) wentOn(ctx context.Context, exact bool) error {
	if !h.outside || exact {
		return nil
	}
	if visits, _ := h.visits(); !slices.ContainsFunc(visits, contextmeter.Visit.Runs) {
		return nil
	}
	return remember(ctx, h, func(st *contextmeter.Memory) { st.Batch = h.at.UnixMilli() })
}

// turnOf returns the turn that calls are of, by what its home knows of the session
// and the client's id of the turn. A sub-agent may outlive the turn that began it:
// its calls are that one's.
func turnOf(at *session.Known, prompt string, subagent bool) (turn session.OpenTurn) {
	switch {
	case at.Open != nil:
		turn = *at.Open
	case at.Last != nil && subagent:
		turn = session.OpenTurn{PromptID: at.Last.PromptID, Prompt: at.Last.Prompt, Started: at.Last.Started}
	}
	if turn.PromptID == "" || prompt != "" && !subagent {
		turn.PromptID = prompt
	}
	return turn
}

// opening notes that a turn visits repositories, before anything is done there, so
// that whatever happens the turn's end reaches it. It returns what to record there
// at its beginning, and the visits by their tops. began says when the calls did
// that have run there already; it is nil if none has.
func (h *hook) opening(ctx context.Context, found []*git.Repo, turn session.OpenTurn, began func() time.Time) (s recorder.Signal, visits map[string]contextmeter.Visit, err error) {
	var tops []string
	for _, r := range found {
		tops = append(tops, r.Top)
	}
	err = remember(ctx, h, func(st *contextmeter.Memory) {
		if h.outside && st.Began != 0 {
			turn.Started = time.UnixMilli(st.Began)
		}
		if h.outside && began != nil {
			h.since, st.Batch = st.Batch, h.at.UnixMilli()
		}
		visits = st.Visit(turn.PromptID, tops)
	})
	if err != nil {
		return s, nil, err
	}
	s = h.signal(recorder.Prompted)
	s.PromptID, s.Prompt, s.Transcript, s.Asked, s.Away = turn.PromptID, h.reported(turn.Prompt), "", "", true
	if began != nil {
		s.Began = calledAt(began(), turn.Started, h.at)
	}
	s.Started = turn.Started
	if s.Started.IsZero() {
		s.Started = cmp.Or(s.Began, h.at)
	}
	return s, visits, nil
}

// calledAt returns when calls began that have run by now: not before their turn,
// nor later than now; with a zero time for what is not known. A time that is yet
// to come is of another clock, and says nothing.
func calledAt(began, turn, now time.Time) time.Time {
	if began.Before(turn) || began.After(now) {
		began = turn
	}
	if began.IsZero() || began.After(now) {
		began = now
	}
	return began
}

// beginIn begins a visit as a hook in the visited repository, unless it has, and
// reports whether recording is on there.
func (h *hook) beginIn(ctx context.Context, g *hook, v contextmeter.Visit, s recorder.Signal) (on bool, err error) {
	if v.Off {
		return false, nil
	}
	set := func(change func(*contextmeter.Visit)) error {
		return remember(ctx, h, func(st *contextmeter.Memory) { st.SetVisit(g.repo.Top, change) })
	}
	if on, err := recordedAt(ctx, g.repo.Top); !on {
		g.known = false // its log is not ours
		if !places.Of(os.Getenv).Switched(g.repo.CommonDir) {
			err = nil // nobody expects it
		}
		return false, errors.Join(err, set(func(v *contextmeter.Visit) { v.Off = true }))
	}
	if v.Begun {
		return true, nil
	}
	if _, err := recorder.Record(ctx, g.open(), s); err != nil {
		return false, err
	}
	return true, set(func(v *contextmeter.Visit) { v.Begun = true })
}

// each does something in several repositories at once, as a hook that works in
// each, and returns the tops of those in which it fails. That is logged there, or
// at home if nothing is recorded there, and told once.
func (h *hook) each(repos []*git.Repo, do func(g *hook) error) (failed map[string]bool) {
	guests := make([]*hook, len(repos))
	errs := make([]error, len(repos))
	var all sync.WaitGroup
	for i, repo := range repos {
		g := *h
		g.repo, g.store, g.known, g.outside, g.settings = repo, session.Open(repo.CommonDir), true, false, nil
		g.answer.Model, g.answer.User = "", ""
		guests[i] = &g
		all.Go(func() { errs[i] = do(&g) })
	}
	all.Wait()
	failed = make(map[string]bool)
	for i, g := range guests {
		if errs[i] != nil {
			failed[g.repo.Top] = true
			g.program = &Program{name: "git-agent-turn"} // it is told once, whichever program's hook it is
			if !g.known {
				g.store, g.known, g.outside = h.store, h.known, h.outside
			}
			g.lose(lostTurn, fmt.Errorf("in %s: %w", g.repo.Top, errs[i]))
		}
		h.add(hooks.Answer{User: g.answer.User})
	}
	return failed
}

// reported returns what others than home may have of a prompt.
func (h *hook) reported(prompt string) string {
	if h.agent.Reported == nil {
		return prompt
	}
	return h.agent.Reported(prompt)
}
