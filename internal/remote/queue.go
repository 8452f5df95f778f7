package remote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
)

// The queue of a remote is a directory with an empty file for each mission that waits. A mission is put there after
// its refs have moved, and taken out only when they have been pushed as they are: whoever dies, it stays.

// Later notes that a mission is to be pushed. Whoever calls it then starts a process that calls [Remote.Drain].
func (r *Remote) Later(id ledger.ID) error {
	if err := os.MkdirAll(r.dir(), 0o700); err != nil {
		return fmt.Errorf("queue mission %s for %s: %w", id, r.Name, err)
	}
	if err := os.WriteFile(filepath.Join(r.dir(), string(id)), nil, 0o600); err != nil {
		return fmt.Errorf("queue mission %s for %s: %w", id, r.Name, err)
	}
	return nil
}

// Pending lists the missions that wait to be pushed.
func (r *Remote) Pending() ([]ledger.ID, error) {
	entries, err := os.ReadDir(r.dir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var ids []ledger.ID
	for _, e := range entries {
		if id, err := ledger.ParseID(e.Name()); err == nil {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// sent takes a mission out of the queue, unless it has gone on since.
func (r *Remote) sent(ctx context.Context, p *Pushed) error {
	if err := os.Remove(filepath.Join(r.dir(), string(p.Mission))); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	refs, err := r.local(ctx, p.Mission)
	if err != nil {
		return err
	}
	if r.byMission(refs)[p.Mission] != p.sent {
		return r.Later(p.Mission)
	}
	return nil
}

// The limits of a process in the background.
const (
	maxFailures = 8                // attempts in a row, after which it leaves the rest to the next turn's
	maxPause    = time.Minute      // between two attempts
	maxPush     = 10 * time.Minute // for one attempt
)

// Drain pushes what waits, until nothing does. It is to be run from a process of its own: at most one for a repository and a
// remote pushes, at most one more waits for that, and any further one returns at once, because the one that
// waits will see what it came for.
//
// After a failure it pauses, twice as long each time, and gives up after 8 in a row: about 2 minutes.
// The first failure after a success goes to the log.
func (r *Remote) Drain(ctx context.Context) error {
	waiting, err := r.tryLock(ctx, "push-waits")
	if err != nil || waiting == nil {
		return err
	}
	pushing, err := r.lock(ctx, "push-background")
	waiting() // from here on a new one waits: what it brings may have come too late for us
	if err != nil {
		return err
	}
	defer pushing()
	for failures := 0; ; {
		if err := pause(ctx, restAfter(r.remember(), time.Now())); err != nil {
			return err
		}
		if r, err = Open(ctx, r.repo, r.Name, r.prefix); err != nil || r.Level == "" {
			return err // what has changed meanwhile counts
		}
		ids, err := r.Pending()
		if err != nil || len(ids) == 0 {
			return err
		}
		if err := r.drain(ctx, ids); err == nil {
			failures = 0
			continue
		}
		if failures++; failures == maxFailures {
			return nil // it has been said
		}
	}
}

// drain pushes some missions and keeps account of it.
func (r *Remote) drain(ctx context.Context, ids []ledger.ID) error {
	attempt, cancel := context.WithTimeout(ctx, maxPush)
	defer cancel()
	known := r.remember()
	list, err := r.PushAll(attempt, ids)
	for _, p := range list {
		err = errors.Join(err, r.tell(ctx, p, known), r.sent(ctx, p))
	}
	return errors.Join(err, r.account(ctx, err))
}

// tell says what a user would want to know of a push that went well otherwise, once.
func (r *Remote) tell(ctx context.Context, p *Pushed, known memory) error {
	if as, ok := known.As[p.Mission]; p.As != p.Mission && (!ok || as != p.As) {
		r.say(fmt.Sprintf("mission %s has gone on here and at %s; ours is mission %s there", p.Mission, r.Name, p.As))
	}
	kept := p.Branch != nil
	if kept == known.Kept[p.Mission] {
		return nil
	}
	if kept {
		r.say(fmt.Sprintf("mission %s was pushed to %s, but not its branch: %v", p.Mission, r.Name, p.Branch))
	}
	return r.learn(ctx, func(m *memory) {
		if m.Kept == nil {
			m.Kept = make(map[ledger.ID]bool)
		}
		m.Kept[p.Mission] = true
		if !kept {
			delete(m.Kept, p.Mission)
		}
	})
}

// account keeps track of failures in a row and says the first one.
func (r *Remote) account(ctx context.Context, failure error) error {
	failures := r.remember().Failures
	switch {
	case failure == nil && failures == 0:
		return nil
	case failure == nil:
		r.say(fmt.Sprintf("pushed to %s again, after %d failures", r.Name, failures))
		return r.learn(ctx, func(m *memory) { m.Failures, m.Failed = 0, time.Time{} })
	}
	if failures == 0 {
		r.say(failure.Error() + "; it will be tried again at later turns")
	}
	return r.learn(ctx, func(m *memory) { m.Failures, m.Failed = m.Failures+1, time.Now() })
}

func (r *Remote) say(text string) { r.store.Log(time.Now(), text) }

// restAfter is how long to wait before the next attempt.
func restAfter(known memory, now time.Time) time.Duration {
	if known.Failures == 0 {
		return 0
	}
	whole := min(time.Second<<min(known.Failures-1, 10), maxPause)
	return min(whole-now.Sub(known.Failed), whole) // the clock may have been set back
}

func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Await waits until a mission no longer waits to be pushed, until an attempt fails, or until ctx ends.
// If the last attempt has failed, it makes one itself: the process in the background may pause for longer than that.
// It reports whether the mission is out of the queue.
func (r *Remote) Await(ctx context.Context, id ledger.ID) bool {
	path := filepath.Join(r.dir(), string(id))
	waits := func() bool {
		_, err := os.Lstat(path)
		return err == nil
	}
	if waits() && r.remember().Failures > 0 {
		return r.drain(ctx, []ledger.ID{id}) == nil && !waits()
	}
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for waits() {
		if r.remember().Failures > 0 {
			return false
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// missing reports whether a push failed because there is no such mission here (any more).
func missing(err error) bool { return errors.Is(err, git.ErrNotFound) }
