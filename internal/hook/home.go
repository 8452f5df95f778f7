package hook

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"

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
// One that stands in none gets the first repository that it changes, at the end of
// the turn; until then its memory is in a directory of the user's.

// settle makes home what the session is at home in, if the repository of its
// directory has not recorded it so: that where its conversation is by now. If
// recording is off there, or it is gone, the session is without a home.
func (h *hook) settle(ctx context.Context) {
	id := h.event.SessionID
	if h.known && h.store.Monitors(id) { // it is kept at home alone
		return
	}
	if h.known {
		if st := h.store.Load(id); !st.Away && st.Mission != "" {
			return
		}
	}
	unreachable := error(nil)
	if common := places.Of(os.Getenv).Home(id); common != "" && (h.repo == nil || common != h.repo.CommonDir) {
		store := session.Open(common)
		if st := store.Load(id); !st.Away {
			h.repo, unreachable = standing(ctx, common, st.Top)
			if h.known = false; unreachable != nil { // its conversation is nobody else's
				h.repo = &git.Repo{Top: cmp.Or(st.Top, git.DirOf(common)), CommonDir: common}
			} else if h.known, _ = workspace.New(h.repo, nil).Enabled(ctx); h.known {
				h.store, h.off = store, false
				return
			}
		}
	}
	if away, ours := Away(); ours && h.known && h.event.Name != "SessionStart" && visiting(away, id) { // it has come here, but its turn has begun outside
		h.repo, h.known = nil, false
	}
	if dir, _ := places.Of(os.Getenv).Away(); dir != "" && !h.known {
		h.outside, h.store = true, session.Open(dir)
	}
	if unreachable != nil {
		h.tell("home", fmt.Sprintf("what this session says is recorded nowhere, as its conversation is in %s: %v; what it changes is recorded where that is; to have both, start a new session",
			h.repo.Top, unreachable))
	}
}

// visiting reports whether a session without a home is in a turn that visits
// repositories.
func visiting(away session.Store, id string) bool {
	var st contextmeter.Memory
	away.LoadMonitor(id, &st)
	return slices.ContainsFunc(st.Visits, contextmeter.Visit.Runs)
}

// standing finds the worktree of a repository that has a directory, or else the
// main one, or else the first that is there.
func standing(ctx context.Context, common, top string) (*git.Repo, error) {
	there := func(top string) (*git.Repo, bool) {
		repo, err := Place(ctx, top, "")
		return repo, err == nil && repo.CommonDir == common
	}
	if repo, ok := there(top); ok {
		return repo, nil
	}
	repo, err := git.OpenCommon(ctx, common)
	if err != nil {
		return nil, err
	}
	if repo, ok := there(repo.Main(ctx)); ok {
		return repo, nil
	}
	list, err := repo.Worktrees(ctx)
	for _, w := range list {
		if repo, ok := there(w.Path); ok {
			return repo, nil
		}
	}
	return nil, cmp.Or(err, git.ErrNotFound)
}

// recordedAt reports whether turns are recorded in a worktree, and why that is not
// known.
func recordedAt(ctx context.Context, top string) (bool, error) {
	repo, err := Place(ctx, top, "")
	if err != nil {
		return false, err
	}
	on, err := workspace.New(repo, nil).Enabled(ctx)
	return on && err == nil, err
}

// Away returns what is kept of sessions without a home; ok is false if nothing of
// ours is.
func Away() (store session.Store, ok bool) {
	dir, ours := places.Of(os.Getenv).Away()
	return session.Open(dir), ours
}

// abroad handles the events of a session without a home: it records what it
// visits.
func abroad(ctx context.Context, h *hook) error {
	switch h.event.Name {
	case "PreToolUse", "PostToolBatch", "PostToolUse":
		return h.visit(ctx, h.event.Name == "PreToolUse")
	case "SubagentStop":
		return sideStopped(ctx, h)
	case "Stop":
		h.leave(ctx, recorder.Stopped, nil)
	case "StopFailure":
		h.leave(ctx, recorder.Erred, nil)
	case "UserPromptSubmit":
		h.leave(ctx, recorder.Halted, nil)
		h.outside = false
		h.find(ctx, h.event.Cwd)
		if h.settle(ctx); h.known && !h.withheld() { // with the turn that was interrupted it has moved in
			return prompt(ctx, h)
		}
		return remember(ctx, h, func(st *contextmeter.Memory) { st.Began = h.at.UnixMilli() })
	case "Interrupt", "SessionEnd":
		h.leave(ctx, recorder.Halted, nil)
	}
	return nil
}

// moveIn makes the first visited repository that the turn has changed the home of
// a session that has none, unless it stands in one where recording is off. It
// returns the others, notes in which it fails, and tells s of the turn at home.
func (h *hook) moveIn(ctx context.Context, left []*git.Repo, failed map[string]bool, signal func(top string) recorder.Signal, s *recorder.Signal) []*git.Repo {
	s.Away = true
	defer func() { s.Transcript = "" }()
	if h.repo != nil || h.off { // recording is off in it, or was when the turn began
		return left
	}
	for i, repo := range left {
		to := signal(repo.Top)
		to.Away = false
		var home *turns.Turn
		maps.Copy(failed, h.each([]*git.Repo{repo}, func(g *hook) (err error) {
			home, err = g.endHere(ctx, to)
			return err
		}))
		if at := session.Open(repo.CommonDir); home == nil && !at.Load(s.Session).Away {
			home = h.lastAtHome(ctx, repo, at, []string{to.PromptID})
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

// atHome notes where the session's conversation is, if that is news.
func (h *hook) atHome(r *recorder.Result) {
	noted := places.Of(os.Getenv)
	if r.Mission != "" && noted.Dir() != nil && noted.Home(h.event.SessionID) != h.repo.CommonDir {
		h.logError(noted.Note(h.event.SessionID, h.repo.CommonDir))
	}
}
