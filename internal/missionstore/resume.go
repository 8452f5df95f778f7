package missionstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gitagent/internal/git/object"
	"gitagent/internal/ledgertx"
	"gitagent/internal/record"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// ErrNoConversation reports a turn whose conversation can't be continued.
var ErrNoConversation = errors.New("the conversation can't be taken along")

// A Resumption is a conversation to be continued in the current checkout.
type Resumption struct {
	Source  *turns.Turn // the last turn of the conversation
	Foreign bool        // it is untrusted
	At      time.Time

	ID      record.ID // of the new mission
	Session string    // of the new conversation
	Config  string    // the client's configuration directory to place it in
}

// Resume places a turn's conversation for the current checkout, and returns the
// mission of its next turn: a new fork without a branch, or the mission whose
// branch HEAD is on, whose next turn will then have all of the conversation. If
// it can't be rebuilt, nothing is made, and the error wraps
// [ErrNoConversation].
func Resume(ctx context.Context, w *workspace.Workspace, how Resumption) (record.ID, error) {
	id, err := resume(ctx, w, how)
	if err != nil {
		return "", fmt.Errorf("resume turn %s: %w", how.Source.ID(), err)
	}
	return id, nil
}

func resume(ctx context.Context, w *workspace.Workspace, how Resumption) (record.ID, error) {
	source, err := turns.Usable(ctx, w, how.Source)
	if err != nil {
		return "", err
	}
	f := ForkPlan{Source: source, Foreign: how.Foreign, ID: how.ID, At: how.At, Session: how.Session, Config: how.Config, top: w.Repo.Top}
	told := retell(ctx, w, f)
	defer told.file.discard()
	if told.why != nil {
		return "", fmt.Errorf("%w: %w", ErrNoConversation, told.why)
	}
	here, err := w.Mission(ctx)
	if err != nil {
		return "", err
	}
	undo := func() error { return nil }
	if here != "" {
		f.ID, told.until = here, 0
	} else if undo, err = passive(ctx, w, f); err != nil {
		return "", err
	}
	if _, err := placeConversation(ctx, w, f, told); err != nil {
		return "", errors.Join(fmt.Errorf("place the conversation: %w", err), undo())
	}
	return f.ID, nil
}

// passive makes a fork that has no branch. undo removes it.
func passive(ctx context.Context, w *workspace.Workspace, f ForkPlan) (undo func() error, err error) {
	var tip object.Hash
	var made *record.Mission
	job := ledgertx.Of(ledgertx.Job{Mission: f.ID, At: f.At, What: "begin"})
	err = ledgertx.Run(ctx, w, job, func(ctx context.Context, tx *ledgertx.Tx) error {
		err := tx.Open(ctx)
		if err == nil && tx.Ledger != nil {
			err = fmt.Errorf("mission %s already exists", f.ID)
		}
		if err == nil {
			made, err = fork(ctx, w, tx, f, f.Source.After().Commit, "")
		}
		if err != nil {
			return err
		}
		tip = tx.Ledger.Tip
		return tx.Commit(ctx)
	})
	if err != nil && made != nil { // it was not made, but the trust in its source was noted
		err = errors.Join(err, w.Trust.Forget(f.ID))
	}
	return func() error {
		ctx := context.WithoutCancel(ctx)
		if err := w.GiveUp(f.ID); err != nil {
			return err
		}
		err := ledgertx.Run(ctx, w, job, func(ctx context.Context, tx *ledgertx.Tx) error {
			tx.Move(f.ID.Ref(), object.Hash{}, tip)
			return tx.Commit(ctx)
		})
		return errors.Join(err, w.Forget(ctx, f.ID))
	}, err
}
