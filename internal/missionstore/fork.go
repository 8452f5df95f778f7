package missionstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"gitagent/internal/agent"
	"gitagent/internal/copyignored"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledgertx"
	"gitagent/internal/record"
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
	telling := make(chan *forkConversation, 1) // takes as long as the checkout, and is independent of it
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
	defer told.file.discard()
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
