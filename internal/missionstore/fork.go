package missionstore

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"gitagent/internal/agent"
	"gitagent/internal/copyignored"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledgertx"
	"gitagent/internal/record"
	"gitagent/internal/session"
	"gitagent/internal/transcript"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// A ForkPlan is a mission that begins at a turn of another one, with its code
// and conversation. If [turns.Turn.CodeKnown] is an error, the code is HEAD's.
type ForkPlan struct {
	Source *turns.Turn
	Before bool        // at the turn's start, not its end
	From   object.Hash // a saved state after the turn to begin at instead or, with Call, a step of it
	Call   string      // the conversation ends with the answer to this call of a tool, within the turn
	ID     record.ID
	Title  string
	Prompt string // the first prompt, for the title if none is given; may be empty
	At     time.Time

	// Home has the conversation if another repository does; the fork's session is
	// at home there, too, in the mission that has it. Lost is why it is out of reach.
	Home *turns.Elsewhere
	Lost error

	Worktree string // to be made for it; if empty, only the branch is made
	Foreign  bool   // the source is untrusted: making the worktree runs nothing of it, see [git.Repo.Foreign]
	// Agent goes on with the fork; nil for the source's own, the only one that
	// can have the conversation. Session is the id of that, and Config the
	// client's configuration directory for it; without a session none is made.
	Agent   *agent.Agent
	Session string
	Config  string

	Include  *copyignored.Files       // files that the worktree gets besides the tree; may be nil
	Copying  func(copyignored.Amount) // is told now and then how much of them is copied; may be nil
	Progress io.Writer                // git's, of the checkout; may be nil
	Unhooked func(error)              // is told how a hook of the user's failed after the checkout; may be nil

	top string // of the worktree that it is made from
}

func (f *ForkPlan) agent() string {
	if f.Agent == nil {
		return f.Source.Agent
	}
	return f.Agent.Name
}

func (f *ForkPlan) begins(head func() (git.Head, error)) (object.Hash, error) {
	switch {
	case !f.From.IsZero():
		return f.From, nil
	case f.Source.CodeKnown() != nil, f.Before && f.Source.Before().Known() != nil:
		if now, err := head(); err != nil || !now.Commit.IsZero() {
			return now.Commit, err
		}
	case f.Before:
		return f.Source.Before().Commit, nil
	}
	return f.Source.After().Commit, nil
}

// titleOf returns an agent's title, given its name in records.
func titleOf(name string) string {
	if a, ok := agent.Find(name); ok {
		return a.Title
	}
	return strconv.Quote(name)
}

// A Forked is a fork that was made.
type Forked struct {
	Mission  *record.Mission
	Included *copyignored.Copied // nil if nothing was to be copied
	File     string              // the session's file; empty if there is no conversation yet
	Why      error               // why there is no conversation, if one was asked for
}

// Fork makes the mission: ledger and branch in one transaction, then the
// worktree, then the conversation, whose file gets its name last. The source is
// not touched. After a failure the earlier steps are undone, or the error says
// what is left. A conversation that can't be rebuilt is no failure: see
// [Forked.Why]. The error wraps [workspace.ErrUntrusted] if the source is
// untrusted.
func Fork(ctx context.Context, w *workspace.Workspace, f ForkPlan) (*Forked, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var err error
	if f.Source, err = turns.Usable(ctx, w, f.Source); err != nil {
		return nil, err
	}
	f.top = w.Repo.Top
	telling := make(chan forkConversation, 1) // takes as long as the checkout, and is independent of it
	go func() { telling <- retell(ctx, w, f) }()
	from, err := f.begins(func() (git.Head, error) { return w.Repo.Head(ctx) })
	if err != nil {
		return nil, err
	}
	done := &Forked{}
	source := f.Source.ID()
	p := creation{
		id: f.ID, from: from, branch: w.Branch(f.ID), worktree: f.Worktree, foreign: f.Foreign,
		include: f.Include, copying: f.Copying, progress: f.Progress,
		unhooked: f.Unhooked,
	}
	undo, included, err := create(ctx, w, p, f.At, func(tx *ledgertx.Tx) (err error) {
		done.Mission, err = fork(ctx, w, tx, f, from, p.branch)
		return err
	})
	done.Included = included
	told := <-telling
	done.Why = told.why
	if err != nil && done.Mission != nil { // it was not made, but the trust in its source was noted
		err = errors.Join(err, w.Trust.Forget(f.ID))
	}
	if err == nil && told.rebuilt != nil {
		if done.File, err = placeConversation(ctx, w, f, told); err != nil {
			err = errors.Join(fmt.Errorf("place the conversation: %w", err), undo())
		}
	}
	if err != nil {
		return nil, fmt.Errorf("fork turn %s: %w", source, err)
	}
	return done, nil
}

// fork begins the ledger of a fork. Branch is empty for a passive mission. With
// a mission and an error, trust was noted that is to be forgotten.
func fork(ctx context.Context, w *workspace.Workspace, tx *ledgertx.Tx, f ForkPlan, from object.Hash, branch string) (*record.Mission, error) {
	l, err := f.Source.LedgerAt(ctx, w.Repo, tx.Objects, f.Before || f.Call != "")
	if err != nil {
		return nil, err
	}
	source := f.Source.ID()
	m := &record.Mission{
		V: record.Version, ID: f.ID, Title: cmp.Or(turns.GivenTitle(w.Settings.Rules(), f.Title), turns.Title(w.Settings.Rules(), f.Prompt)), Created: f.At.UTC().Truncate(time.Millisecond),
		Agent: f.agent(), Base: from.String(), Branch: branch, ForkedFrom: &source,
	}
	if m.Title == "" {
		m.Title = l.Mission.Title
	}
	return m, tx.Fork(ctx, m, l, from)
}

// A forkConversation is the conversation that a fork starts with.
type forkConversation struct {
	rebuilt *transcript.Rebuilt // for the client; nil if there is none
	until   int                 // its last turn in the ledger of the mission that continues it; 0 if none
	size    int64               // of the part of the file up to that turn, if more follows; else 0
	why     error               // why there is none
}

// retell makes the conversation of a fork. The zero value means that none was
// asked for, or that the fork begins before its first turn.
func retell(ctx context.Context, w *workspace.Workspace, f ForkPlan) forkConversation {
	if f.Session == "" {
		return forkConversation{}
	}
	until := f.Source
	if f.Source.Away() {
		if f.Home == nil {
			return forkConversation{why: fmt.Errorf("it is %w", cmp.Or(f.Lost, turns.ErrAway))}
		}
		var err error
		w = f.Home.Workspace
		if until, err = turns.Usable(ctx, w, f.Home.Turn); err != nil {
			return forkConversation{why: err}
		}
	}
	ends := until // the conversation with this turn, or before it
	if f.Before {
		seg := ends.Transcript
		switch {
		case seg == nil:
			return forkConversation{why: fmt.Errorf("no transcript of turn %s was recorded", ends.ID())}
		case seg.After == 0:
			return forkConversation{}
		}
		var err error
		if until, err = turnBefore(ctx, w, ends); err != nil {
			return forkConversation{why: err}
		}
	}
	client, known := agent.Find(until.Agent)
	switch {
	case until.Agent == "":
		return forkConversation{why: fmt.Errorf("turn %s was recorded by hand, or for an unknown client", until.ID())}
	case !known:
		return forkConversation{why: fmt.Errorf("sessions of %q can't be taken up again at a turn", until.Agent)}
	case client.Name != f.agent():
		return forkConversation{why: fmt.Errorf("it was had with %s, and %s goes on", client.Title, titleOf(f.agent()))}
	}
	stored, err := turns.Conversation(ctx, w.Repo, until)
	if err != nil {
		return forkConversation{why: err}
	}
	if f.Call != "" {
		return retellWithin(f, client, ends, stored)
	}
	rebuilt, err := client.Rebuild(f.cut(stored))
	if errors.Is(err, errors.ErrUnsupported) {
		err = fmt.Errorf("sessions of %s can't be taken up again at a turn", client.Title)
	}
	return forkConversation{rebuilt: rebuilt, until: until.Turn, why: err}
}

func (f *ForkPlan) cut(segments [][]byte) transcript.Cut {
	return transcript.Cut{
		Segments: segments, Foreign: f.Foreign, Session: f.Session, At: f.At, Config: f.Config, Dir: resolved(cmp.Or(f.Worktree, f.top)),
	}
}

// retellWithin makes a conversation that ends within the last of the segments.
// What it has of that turn is recorded with the fork's first one.
func retellWithin(f ForkPlan, client *agent.Agent, of *turns.Turn, segments [][]byte) forkConversation {
	if !client.Within {
		return forkConversation{why: fmt.Errorf("sessions of %s can't be taken up again within a turn", client.Title)}
	}
	last := len(segments) - 1
	end := transcript.Within(client.Reader(), segments[last], f.Call)
	if end == 0 {
		return forkConversation{why: fmt.Errorf("the conversation of turn %s lacks the call %s", of.ID(), f.Call)}
	}
	told := forkConversation{until: of.Transcript.After}
	if last > 0 {
		before, err := client.Rebuild(f.cut(segments[:last]))
		switch {
		case errors.Is(err, transcript.ErrEmpty):
		case err != nil:
			return forkConversation{why: err}
		default:
			for _, p := range before.Pieces {
				told.size += int64(len(p))
			}
		}
	}
	told.rebuilt, told.why = client.Rebuild(f.cut(append(slices.Clone(segments[:last]), segments[last][:end])))
	if told.size == 0 {
		told.until = 0
	}
	return told
}

// resolved returns a directory, which may not exist, without symbolic links.
func resolved(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil || filepath.Dir(dir) == dir {
		return cmp.Or(real, dir)
	}
	return filepath.Join(resolved(filepath.Dir(dir)), filepath.Base(dir))
}

// turnBefore reads the previous turn of a turn's conversation.
func turnBefore(ctx context.Context, w *workspace.Workspace, t *turns.Turn) (*turns.Turn, error) {
	objects := w.Repo.Objects(ctx)
	defer objects.Close()
	l, err := t.OpenLedger(ctx, w.Repo, objects)
	if err != nil {
		return nil, err
	}
	return turns.ReadIn(l, t.Transcript.After)
}

// placeConversation puts the conversation where the client looks for it, and
// notes that it is recorded, lest it be stored twice. The file gets its name
// when complete; then a client that keeps conversations elsewhere imports it.
func placeConversation(ctx context.Context, w *workspace.Workspace, f ForkPlan, c forkConversation) (path string, err error) {
	gitDir := "" // not this worktree's, whose mission may be another one
	if f.Worktree != "" {
		repo, err := git.Find(f.Worktree)
		if err != nil {
			return "", err
		}
		gitDir = repo.GitDir
	}
	path = c.rebuilt.Path
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	tmp := path + ".tmp"
	if err = write(tmp, c.rebuilt.Pieces); err == nil {
		err = remember(ctx, w, f, c, gitDir, path, tmp)
		if err == nil && f.Source.Away() {
			err = f.Home.Note(f.Session)
		}
		if err == nil {
			err = os.Rename(tmp, path)
		}
		if err == nil && c.rebuilt.Adopt != nil {
			if err = c.rebuilt.Adopt(ctx); err != nil {
				_ = os.Remove(path)
			}
		}
		if err == nil {
			return path, nil
		}
		err = errors.Join(err, w.Store.ForgetSession(ctx, f.Session, f.ID))
		if f.Source.Away() {
			err = errors.Join(err, f.Home.Store.ForgetSession(ctx, f.Session, f.Home.Turn.In()))
		}
	}
	_ = os.Remove(tmp)
	_ = os.Remove(dir) // if it is empty
	return "", err
}

// write makes a file that only the user can read.
func write(path string, pieces [][]byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<16)
	for _, p := range pieces {
		_, _ = w.Write(p) // Flush returns the error, too
	}
	return errors.Join(w.Flush(), f.Close())
}

func remember(ctx context.Context, w *workspace.Workspace, f ForkPlan, c forkConversation, gitDir, path, tmp string) error {
	end, err := transcript.End(tmp)
	if c.size > 0 {
		end, err = transcript.At(tmp, c.size)
	}
	if err != nil {
		return err
	}
	note := func(w *workspace.Workspace, until int, known session.Known) error {
		return w.Store.Update(ctx, f.Session, func(st *session.Known) error {
			st.Mission, st.Worktree, st.Top, st.Away, st.Seen, st.Transcript = known.Mission, known.Worktree, known.Top, known.Away, f.At, path
			if until > 0 || known.Away {
				st.Cursors = map[record.ID]session.Cursor{known.Mission: {Offset: end.Offset, Check: end.Check, Turn: until}}
			}
			return nil
		})
	}
	if !f.Source.Away() {
		return note(w, c.until, session.Known{Mission: f.ID, Worktree: gitDir})
	}
	// What the file has so far is never recorded here, also if home is gone by then.
	err = note(w, 0, session.Known{Mission: f.ID, Worktree: gitDir, Away: true})
	if err != nil {
		return err
	}
	home := f.Home.Repo
	return note(f.Home.Workspace, c.until, session.Known{Mission: f.Home.Turn.In(), Worktree: home.GitDir, Top: home.Top})
}
