package hook

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"gitagent/hooks"
	"gitagent/internal/agent"
	"gitagent/internal/contextmeter"
	"gitagent/internal/git"
	"gitagent/internal/places"
	"gitagent/internal/record"
	"gitagent/internal/recorder"
	"gitagent/internal/session"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// A session's home is the repository that it stands in, and has its conversation.
// It visits another one when its tools act there: from the first call of a turn
// that names something in it to the turn's end. Which ones is in the memory of
// the session, at home or, while it has none, in a directory of the user's.

// maxVisits is how many repositories a turn visits. Beyond, nothing is recorded.
const maxVisits = 50

// settle makes home what the session is at home in, if the repository of its
// directory does not know it so: that where its conversation is by now.
func (h *hook) settle(ctx context.Context) {
	if h.known && h.store.Monitors(h.event.SessionID) { // it is kept at home alone
		return
	}
	noted := places.Of(os.Getenv)
	if h.known {
		if st := h.store.Load(h.event.SessionID); !st.Away && !st.Seen.IsZero() {
			return
		}
	}
	if common := noted.Home(h.event.SessionID); common != "" && (h.repo == nil || common != h.repo.CommonDir) {
		store := session.Open(common)
		if st := store.Load(h.event.SessionID); st.Top != "" && !st.Away {
			repo, err := Place(ctx, st.Top, "")
			if err == nil && repo.CommonDir == common {
				if on, _ := workspace.New(repo, nil).Enabled(ctx); on {
					h.repo, h.store, h.known = repo, store, true
					return
				}
			}
		}
	}
	if h.known || noted.Dir() == nil {
		return
	}
	h.outside, h.store = true, session.Open(noted.Dir().Path("away"))
}

// abroad handles the events of a session without a home: it records what it
// visits.
func abroad(ctx context.Context, h *hook) error {
	switch h.event.Name {
	case "PreToolUse", "PostToolBatch", "PostToolUse":
		return h.visit(ctx, h.event.Name == "PreToolUse")
	case "Stop":
		h.leave(ctx, recorder.Stopped, nil)
	case "StopFailure":
		h.leave(ctx, recorder.Erred, nil)
	case "UserPromptSubmit":
		h.leave(ctx, recorder.Halted, nil)
		return h.rememberAbroad(ctx, func(st *contextmeter.Memory) { st.Began = h.at.UnixMilli() })
	case "Interrupt", "SessionEnd":
		h.leave(ctx, recorder.Halted, nil)
	}
	return nil
}

// rememberAbroad changes the memory of a session without a home.
func (h *hook) rememberAbroad(ctx context.Context, change func(*contextmeter.Memory)) error {
	if err := os.MkdirAll(places.Of(os.Getenv).Dir().Path("away"), 0o700); err != nil {
		return err
	}
	return remember(ctx, h, change)
}

// elsewhere returns the other repositories that calls in a directory name. It
// looks at nothing but the paths that it is given if all are in the worktree.
func (h *hook) elsewhere(cwd string, calls []hooks.Call) (repos []*git.Repo) {
	home, _ := os.UserHomeDir()
	looked := make(map[string]bool)
	for _, name := range recorder.Named(cwd, home, calls) {
		if h.repo != nil && within(h.repo.Top, name) {
			continue
		}
		dir := existing(name)
		if dir == "" || looked[dir] {
			continue
		}
		looked[dir] = true
		repo, err := git.Find(dir)
		if err != nil || h.repo != nil && repo.CommonDir == h.repo.CommonDir || len(repos) == maxVisits ||
			slices.ContainsFunc(repos, func(r *git.Repo) bool { return r.CommonDir == repo.CommonDir }) {
			continue
		}
		repos = append(repos, h.visited(repo, name == filepath.Clean(cwd)))
	}
	return repos
}

// visited returns the worktree in which the turn visits a repository, one for all
// that it has: that of the visit that runs, else the one that the agent stands
// in, else the main one, if there is one. The others go with it; see
// [recorder.Beside].
func (h *hook) visited(repo *git.Repo, stands bool) *git.Repo {
	visits, _ := h.visits()
	for _, v := range visits {
		if at, err := git.Find(v.Top); v.Runs() && err == nil && at.Top == v.Top && at.CommonDir == repo.CommonDir {
			return at
		}
	}
	if main, err := git.FindCommon(repo.CommonDir); !stands && err == nil && main.Top != "" {
		return main
	}
	return repo
}

// within reports whether a path is in a worktree, and in no repository within it.
func within(top, path string) bool {
	name, ok := git.Within(top, path)
	if !ok {
		return false
	}
	for dir := name; dir != "."; dir = filepath.ToSlash(filepath.Dir(dir)) {
		at := filepath.Join(top, filepath.FromSlash(dir))
		if info, err := os.Lstat(at); err == nil && info.Mode()&os.ModeSymlink != 0 {
			return false // it may lead out
		}
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return false
		}
	}
	return true
}

// existing returns the directory that a path is or is in, as far as it exists.
func existing(path string) string {
	for {
		info, err := os.Stat(path)
		switch {
		case err == nil && info.IsDir():
			return path
		case filepath.Dir(path) == path:
			return ""
		}
		path = filepath.Dir(path)
	}
}

// visit begins the visits of the event's calls that are new, and hands each
// repository its step. exact says that the calls have not run yet.
func (h *hook) visit(ctx context.Context, exact bool) error {
	found := h.elsewhere(h.event.Cwd, h.event.Calls)
	if len(found) == 0 {
		return nil
	}
	var open session.OpenTurn
	switch at := h.store.Load(h.event.SessionID); {
	case at.Open != nil:
		open = *at.Open
	case at.Last != nil && h.event.AgentID != "": // it outlives the turn that began it
		open = session.OpenTurn{PromptID: at.Last.PromptID, Prompt: at.Last.Prompt, Started: at.Last.Started}
	}
	began := h.began
	if exact {
		began = nil
	}
	s, begun, err := h.opening(ctx, found, open, began)
	if err != nil {
		return err
	}
	return h.each(found, func(g *hook) error {
		on, err := h.beginIn(ctx, g, begun[g.repo.Top], s)
		switch {
		case err != nil || !on:
			return err
		case exact:
			return recorder.StepBefore(ctx, g.repo, g.open, h.batch())
		}
		b := h.batch()
		b.PromptID, b.Began = s.PromptID, func() time.Time { return s.Began }
		return errors.Join(recorder.Step(ctx, g.repo, g.open, b), recorder.Beside(ctx, g.repo, g.open, b, false, false))
	})
}

// opening notes that a turn visits repositories, and returns what to record there
// at its beginning, and the visits by their tops. began says when the calls did
// that have run there already; it is nil if none has.
func (h *hook) opening(ctx context.Context, found []*git.Repo, open session.OpenTurn, began func() time.Time) (s recorder.Signal, begun map[string]contextmeter.Visit, err error) {
	prompt := cmp.Or(h.event.PromptID, open.PromptID)
	if h.event.AgentID != "" {
		prompt = cmp.Or(open.PromptID, h.event.PromptID)
	}
	if h.outside {
		err := h.rememberAbroad(ctx, func(st *contextmeter.Memory) {
			if st.Began != 0 {
				open.Started = time.UnixMilli(st.Began)
			}
			if began != nil {
				h.since, st.Batch = st.Batch, h.at.UnixMilli()
			}
		})
		if err != nil {
			return s, nil, err
		}
	}
	if begun, err = h.noteVisits(ctx, found, prompt); err != nil {
		return s, nil, err
	}
	s = h.signal(recorder.Prompted)
	s.PromptID, s.Prompt, s.Transcript, s.Asked, s.Away = prompt, h.reported(open.Prompt), "", "", true
	s.Started = open.Started
	if began != nil {
		if s.Began = began(); s.Began.Before(open.Started) { // also if it is not known
			s.Began = open.Started
		}
		if s.Began.IsZero() || s.Began.After(h.at) {
			s.Began = h.at
		}
	}
	if s.Started.IsZero() {
		s.Started = cmp.Or(s.Began, h.at)
	}
	return s, begun, nil
}

// beginIn begins a visit as a hook in the visited repository, unless it has, and
// reports whether recording is on there.
func (h *hook) beginIn(ctx context.Context, g *hook, v contextmeter.Visit, s recorder.Signal) (on bool, err error) {
	if v.Off || v.Begun {
		return v.Begun, nil
	}
	r, err := Place(ctx, g.repo.Top, "")
	if err == nil {
		on, err = workspace.New(r, nil).Enabled(ctx)
	}
	if !on || err != nil {
		g.known = false // its log is not ours
		return false, h.setVisit(ctx, g.repo.Top, func(v *contextmeter.Visit) { v.Off = true })
	}
	if _, err := recorder.Record(ctx, g.open(), s); err != nil {
		return false, err
	}
	return true, h.setVisit(ctx, g.repo.Top, func(v *contextmeter.Visit) { v.Begun = true })
}

// missed begins the visits of the turn that has ended which no hook has begun: it
// was killed, or not run for a call of which the conversation tells. It returns
// the calls of which the visited repositories may lack some.
func (h *hook) missed(ctx context.Context, r *recorder.Result, visits []contextmeter.Visit) (calls []hooks.Call, err error) {
	var open session.OpenTurn
	if t := lastOf(r); t != nil {
		open = session.OpenTurn{PromptID: t.PromptID, Prompt: t.Prompt, Started: t.Started}
	}
	var found []*git.Repo
	if r != nil {
		calls = r.Elsewhere
		found = h.elsewhere(h.repo.Top, calls)
	}
	for _, v := range visits {
		i := slices.IndexFunc(found, func(r *git.Repo) bool { return r.Top == v.Top })
		switch {
		case v.Runs() && !v.Begun:
			calls = append(calls, hooks.Call{ID: "missed", Effect: hooks.Anything})
			open.PromptID = cmp.Or(open.PromptID, v.PromptID)
			if repo, err := git.Find(v.Top); err == nil && i < 0 {
				found = append(found, repo)
			}
		case i >= 0 && (v.Runs() || v.PromptID != "" && v.PromptID == open.PromptID): // a hook has
			found = slices.Delete(found, i, i+1)
		}
	}
	if len(found) == 0 {
		return calls, nil
	}
	g := *h
	g.event = &hooks.Payload{SessionID: h.event.SessionID, PromptID: open.PromptID}
	s, begun, err := g.opening(ctx, found, open, func() time.Time { return time.Time{} })
	if err != nil {
		return calls, err
	}
	return calls, h.each(found, func(g *hook) error {
		_, err := h.beginIn(ctx, g, begun[g.repo.Top], s)
		return err
	})
}

// visits returns the visits of the session, also those that are over, and when
// its last batch of calls had run, in ms, 0 if that is unknown.
func (h *hook) visits() (visits []contextmeter.Visit, batch int64) {
	var st contextmeter.Memory
	h.store.LoadMonitor(h.event.SessionID, &st)
	return st.Visits, st.Batch
}

// noteVisits notes what a turn visits before anything is done there, so that
// whatever happens the turn's end reaches it, and returns that by top.
func (h *hook) noteVisits(ctx context.Context, found []*git.Repo, prompt string) (map[string]contextmeter.Visit, error) {
	begun := make(map[string]contextmeter.Visit)
	err := remember(ctx, h, func(st *contextmeter.Memory) {
		st.Visits = slices.DeleteFunc(st.Visits, func(v contextmeter.Visit) bool {
			return !v.Runs() && (v.PromptID != prompt || v.Over && prompt == "") // an earlier turn's
		})
		for _, r := range found {
			i := slices.IndexFunc(st.Visits, func(v contextmeter.Visit) bool { return v.Top == r.Top })
			if i < 0 {
				if len(st.Visits) == maxVisits {
					continue
				}
				st.Visits = append(st.Visits, contextmeter.Visit{Top: r.Top, PromptID: prompt})
				i = len(st.Visits) - 1
			}
			v := &st.Visits[i]
			if v.PromptID != prompt {
				*v = contextmeter.Visit{Top: r.Top, PromptID: prompt}
			}
			v.Over = false
			begun[r.Top] = *v
		}
	})
	for _, r := range found {
		if _, ok := begun[r.Top]; !ok {
			begun[r.Top] = contextmeter.Visit{Off: true}
		}
	}
	return begun, err
}

func (h *hook) setVisit(ctx context.Context, top string, change func(*contextmeter.Visit)) error {
	return remember(ctx, h, func(st *contextmeter.Memory) {
		for i := range st.Visits {
			if st.Visits[i].Top == top {
				change(&st.Visits[i])
			}
		}
	})
}

// each does something in several repositories at once, as a hook that works in
// each. What fails is logged there, and told once.
func (h *hook) each(repos []*git.Repo, do func(g *hook) error) error {
	guests := make([]*hook, len(repos))
	errs := make([]error, len(repos))
	var all sync.WaitGroup
	for i, repo := range repos {
		g := *h
		g.repo, g.store, g.known, g.settings = repo, session.Open(repo.CommonDir), true, nil
		g.answer.Model, g.answer.User = "", ""
		guests[i] = &g
		all.Go(func() { errs[i] = do(&g) })
	}
	all.Wait()
	for i, g := range guests {
		if errs[i] != nil {
			g.fail(errs[i])
		}
		h.answer.User = cmp.Or(h.answer.User, g.answer.User)
	}
	return nil
}

// leave ends the visits of the turn that has ended. r is what was recorded of it
// at home, nil if that is not known. A session that has moved in may have some
// that it began outside: the hook was killed.
func (h *hook) leave(ctx context.Context, event recorder.SignalKind, r *recorder.Result) {
	if noted := places.Of(os.Getenv).Dir(); !h.outside && noted != nil {
		if away := session.Open(noted.Path("away")); away.Monitors(h.event.SessionID) {
			g := *h
			g.store = away
			g.leaveAll(ctx, event, &recorder.Result{}, h.store)
		}
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
	if !slices.ContainsFunc(visits, contextmeter.Visit.Runs) {
		return
	}
	last := lastOf(r)
	if last == nil && !h.outside {
		if last = h.lastAtHome(ctx, h.repo, home, running(visits)); last != nil && last.Outcome == record.Done {
			event = recorder.Stopped
		}
	}
	s := h.signal(event)
	s.Asked, s.Untold = "", calls
	if event == recorder.Halted && batch != 0 {
		s.Began = time.UnixMilli(batch)
	}
	if !h.outside {
		s.Transcript = ""
		s.Prompt, s.Reply = "", ""
		s.Home = turnAtHome(home.Load(s.Session), last)
		if last != nil {
			s.Prompt, s.Reply = h.reported(last.Prompt), last.Reply
		}
		s.Away = true
	} else if event == recorder.Halted {
		s.Prompt = ""
	}
	var left []*git.Repo
	prompts := make(map[string]string)
	for _, v := range visits {
		if !v.Runs() {
			continue
		}
		repo, err := trusted(ctx, v.Top)
		if err != nil || repo.Top != v.Top {
			h.logError(err) // it is gone
			continue
		}
		left = append(left, repo)
		prompts[v.Top] = v.PromptID
	}
	signal := func(top string) recorder.Signal {
		to := s
		to.PromptID, to.IfChanged, to.Client = prompts[top], true, session.Client{}
		return to
	}
	if h.outside {
		left = h.moveIn(ctx, left, signal, &s)
	}
	_ = h.each(left, func(g *hook) error { return g.endHere(ctx, signal(g.repo.Top), nil) })
	h.logError(remember(ctx, h, func(st *contextmeter.Memory) {
		for i := range st.Visits {
			if v := &st.Visits[i]; prompts[v.Top] == v.PromptID {
				v.Over = true
			}
		}
	}))
}

// moveIn makes the first visited repository that the turn has changed the home of
// a session that has none, unless it stands in one where recording is off. It
// returns the others, and tells s of the turn at home.
func (h *hook) moveIn(ctx context.Context, left []*git.Repo, signal func(top string) recorder.Signal, s *recorder.Signal) []*git.Repo {
	s.Away = true
	defer func() { s.Transcript = "" }()
	if h.repo != nil { // recording is off in it
		return left
	}
	for i, repo := range left {
		var home *turns.Turn
		_ = h.each([]*git.Repo{repo}, func(g *hook) error {
			to := signal(repo.Top)
			to.Away = false
			return g.endHere(ctx, to, &home)
		})
		if at := session.Open(repo.CommonDir); home == nil && !at.Load(s.Session).Away {
			home = h.lastAtHome(ctx, repo, at, []string{signal(repo.Top).PromptID})
		}
		if home != nil {
			h.logError(places.Of(os.Getenv).Note(s.Session, repo.CommonDir))
			s.Home, s.Prompt, s.Reply = &record.TurnID{Mission: home.Mission, Turn: home.Turn}, h.reported(home.Prompt), home.Reply
			return left[i+1:]
		}
	}
	return nil
}

// lastAtHome returns the session's last turn at home if it is that of one of some
// prompts, else nil: what it began has gone on in visits since it ended, or the
// hook that has recorded it was killed.
func (h *hook) lastAtHome(ctx context.Context, repo *git.Repo, home session.Store, prompts []string) *turns.Turn {
	last := home.Load(h.event.SessionID).Last
	if last == nil || last.PromptID == "" || !slices.Contains(prompts, last.PromptID) {
		return nil
	}
	t, err := turns.Read(ctx, repo, last.Mission, last.Turn)
	h.logError(err)
	return t
}

// running returns the prompts of visits that are not over.
func running(visits []contextmeter.Visit) (prompts []string) {
	for _, v := range visits {
		if v.Runs() {
			prompts = append(prompts, v.PromptID)
		}
	}
	return prompts
}

// endHere records the end of a turn in a visited repository.
func (h *hook) endHere(ctx context.Context, s recorder.Signal, last **turns.Turn) error {
	w := h.open()
	result, err := recorder.Record(ctx, w, s)
	if err != nil || len(result.Turns) == 0 {
		return err
	}
	if last != nil {
		*last = result.Turns[len(result.Turns)-1]
	}
	h.follow(ctx, w, result, true)
	if noted := places.Of(os.Getenv); noted.Dir() != nil {
		h.logError(noted.NoteRepository(h.repo.CommonDir))
	}
	return nil
}

// reported returns what others than home may have of a prompt.
func (h *hook) reported(prompt string) string {
	if h.agent.Reported == nil {
		return prompt
	}
	return h.agent.Reported(prompt)
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

// atHome notes where the session's conversation is, if that is news.
func (h *hook) atHome(r *recorder.Result) {
	noted := places.Of(os.Getenv)
	if r.Mission != "" && noted.Dir() != nil && noted.Home(h.event.SessionID) != h.repo.CommonDir {
		h.logError(noted.Note(h.event.SessionID, h.repo.CommonDir))
	}
}

// lastOf returns the last turn that an event recorded, or nil.
func lastOf(r *recorder.Result) *turns.Turn {
	if r == nil || len(r.Turns) == 0 {
		return nil
	}
	return r.Turns[len(r.Turns)-1]
}

// withoutVisitors returns the peers that are at home here. The visits of others
// whose clients are gone end: their homes may never be opened again.
func (h *hook) withoutVisitors(ctx context.Context, peers []session.Peer, registry []session.Registration) []session.Peer {
	return slices.DeleteFunc(peers, func(p session.Peer) bool {
		if p.Away && p.Open != nil && p.Liveness != session.Lives && !p.Runs(registry, h.at) {
			s := recorder.Signal{
				Event: recorder.Halted, At: h.at, Agent: p.Agent, Session: p.Session, PromptID: p.Open.PromptID,
				Away: true, IfChanged: true,
			}
			if home := places.Of(os.Getenv).Home(p.Session); home != "" {
				s.Home = turnAtHome(session.Open(home).Load(p.Session), nil)
			}
			h.logError(h.endHere(ctx, s, nil))
		}
		return p.Away
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
