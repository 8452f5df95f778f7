package turns

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/session"
	"gitagent/internal/snapshot"
)

// A Recorder records turns in the worktree that Repo was found from.
type Recorder struct {
	Repo    *git.Repo
	Capture config.Capture
	// FlushWait is how long the end of a turn waits for the client to write its
	// transcript; the client needs up to 100 ms.
	FlushWait time.Duration
}

// A Result is what a signal has led to.
type Result struct {
	Mission ledger.ID // empty if there was nothing to record
	Turns   []*Turn   // recorded now, in order
	// Config is git's configuration as the recording has read it: a hook has no time to read it twice.
	Config git.Config
	// Warnings are what did not keep the turn from being recorded, for the log.
	Warnings []string
}

// lockWait bounds the wait for another hook of the same session or worktree.
const lockWait = 30 * time.Second

// maxAttempts is how often a lost race is run again.
const maxAttempts = 20

// Record takes one signal. It returns when everything that it tells is in the repository.
func (r *Recorder) Record(ctx context.Context, s Signal) (*Result, error) {
	ctx, cancel := context.WithTimeout(ctx, lockWait+2*r.FlushWait+time.Minute)
	defer cancel()
	store := session.Open(r.Repo.CommonDir)
	state := s.Session
	if state == "" {
		state = "hand-" + r.worktree() // turns recorded by hand follow each other, too
	}
	unlock, err := r.lock(ctx, store, state)
	if err != nil {
		return nil, err
	}
	defer unlock()
	s.At = s.At.UTC().Truncate(time.Millisecond)
	stay := false
	for attempt := 1; ; attempt++ {
		rec := &recording{Recorder: r, Signal: s, store: store, state: store.Load(state), stay: stay}
		result, err := rec.run(ctx)
		switch {
		case err == nil:
			return result, nil
		case errors.Is(err, errBranch) && !stay:
			stay = true
		case !errors.Is(err, git.ErrConflict) || attempt == maxAttempts:
			return nil, fmt.Errorf("record %s: %w", s.Event, err)
		}
	}
}

// lock takes the session's lock, then the worktree's: always in this order.
func (r *Recorder) lock(ctx context.Context, store session.Store, name string) (func(), error) {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	first, err := store.LockSession(ctx, name)
	if err != nil {
		return nil, err
	}
	second, err := store.Lock(ctx, "worktree-"+r.worktree())
	if err != nil {
		first()
		return nil, err
	}
	return func() { second(); first() }, nil
}

func (r *Recorder) policy() snapshot.Policy {
	return snapshot.Policy{
		MaxFileSize:       r.Capture.MaxFileSize,
		MaxUntrackedFiles: r.Capture.MaxUntrackedFiles,
		MaxUntrackedSize:  r.Capture.MaxUntrackedSize,
		Exclude:           r.Capture.Exclude,
	}
}
