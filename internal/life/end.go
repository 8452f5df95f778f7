package life

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gitagent/handoffstore"
	"gitagent/internal/git"
	"gitagent/internal/record"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// How long the end of a turn waits for the client's transcript, which is written up to 100 ms late.
const (
	FlushWait = 2 * time.Second
	goneWait  = 100 * time.Millisecond // the client is gone: all that it wrote is on disk
)

// A Taken is the outcome of a signal.
type Taken struct {
	*turns.Result
	HandedOff bool // the session has ended, and its handoff is in the ledger
}

// Take handles a signal of a session: a prompt, the end of a turn, or the session's end. It returns
// nil if the end was already handled. If this process dies before it has finished, the next
// session's start does the rest.
func Take(ctx context.Context, w *workspace.Workspace, s turns.Signal) (*Taken, error) {
	if s.Event == turns.Ended {
		return end(ctx, w, s)
	}
	result, err := (&turns.Recorder{Workspace: w, FlushWait: FlushWait}).Record(ctx, s)
	if err != nil {
		return nil, err
	}
	return &Taken{Result: result}, nil
}

func end(ctx context.Context, w *workspace.Workspace, s turns.Signal) (*Taken, error) {
	store := &handoffstore.Store{Workspace: w}
	held, err := w.Store.LockSessions(ctx, w.Repo.GitDir)
	if err != nil {
		return nil, err
	}
	defer held.Release()
	done, err := store.Ending(ctx, s.Session)
	if done || err != nil {
		return nil, err
	}
	result, g, err := finish(ctx, store, s, FlushWait, handoffstore.Request{
		At: s.At, Exit: handoffstore.Clean, Ended: true,
		Session: s.Session, Agent: s.Agent, Transcript: s.Transcript,
	})
	if result == nil {
		return nil, err
	}
	return &Taken{result, g != nil}, err
}

// finish ends a session: it records the last turn, hands off, and notes that in the session's
// state. A session that has recorded nothing leaves nothing. The caller holds the lock of sessions.
func finish(ctx context.Context, s *handoffstore.Store, last turns.Signal, wait time.Duration, r handoffstore.Request) (*turns.Result, *handoffstore.Gathered, error) {
	result, err := (&turns.Recorder{Workspace: s.Workspace, FlushWait: wait}).Record(ctx, last)
	if err != nil {
		return nil, nil, fmt.Errorf("the end of session %s: %w", last.Session, err)
	}
	if r.Mission, err = record.ParseID(s.Workspace.Store.Load(last.Session).Mission); err != nil {
		return result, nil, nil // the session never recorded anything
	}
	g, err := s.Gather(ctx, r)
	if err != nil && !errors.Is(err, git.ErrNotFound) { // not found: the mission has no ledger
		return result, nil, err
	}
	return result, g, s.HandedOff(ctx, last.Session)
}
