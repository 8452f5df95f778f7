package remote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"gitagent/internal/limit"
	"gitagent/internal/record"
)

// The queue of a remote is a directory with an empty file for each mission that waits. A mission is
// added after its refs have moved, and removed only when these very values have been pushed: if a
// process dies, the mission stays.

func (r *Remote) waiting(id record.ID) string { return r.name(string(id)) }

// Later notes that a mission is to be pushed. The caller then starts a process that calls
// [Remote.Drain].
func (r *Remote) Later(id record.ID) error {
	if err := r.state().WriteFile(r.waiting(id), nil); err != nil {
		return fmt.Errorf("queue mission %s for %s: %w", id, r.Name, err)
	}
	return nil
}

// Pending lists the missions that are waiting to be pushed, in order.
func (r *Remote) Pending() ([]record.ID, error) {
	entries, err := r.state().ReadDir(r.name(""))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var ids []record.ID
	for _, e := range entries {
		if id, err := record.ParseID(e.Name()); err == nil {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// sent takes a mission out of the queue, unless it has moved since. What has moved before that stays
// in the queue without a gap: somebody may be waiting for it to leave.
func (r *Remote) sent(ctx context.Context, p *Pushed) error {
	moved, err := r.moved(ctx, p)
	if !moved && err == nil {
		if err := r.state().Remove(r.waiting(p.Mission)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		moved, err = r.moved(ctx, p)
	}
	if moved {
		return r.Later(p.Mission)
	}
	return err
}

// Settle takes out of the queue what was pushed by hand, and what has been removed since it was queued.
// When nothing waits any more, earlier failures are forgotten.
func (r *Remote) Settle(ctx context.Context, pushed []*Pushed) error {
	waiting, err := r.Pending()
	if err != nil {
		return err
	}
	var errs []error
	for _, p := range pushed {
		if slices.Contains(waiting, p.Mission) {
			errs = append(errs, r.sent(ctx, p))
		}
	}
	refs, err := r.local(ctx, "")
	if err != nil {
		return err
	}
	ours := r.byMission(refs)
	for _, id := range waiting {
		if ours[id].zero() {
			errs = append(errs, r.sent(ctx, &Pushed{Mission: id}))
		}
	}
	waiting, err = r.Pending()
	if len(waiting) == 0 && err == nil {
		err = r.account(ctx, nil)
	}
	return errors.Join(append(errs, err)...)
}

// moved reports whether a mission has moved since it was pushed.
func (r *Remote) moved(ctx context.Context, p *Pushed) (bool, error) {
	refs, err := r.local(ctx, p.Mission)
	return err == nil && r.byMission(refs)[p.Mission] != p.sent, err
}

// Limits of a background process.
const (
	maxFailures = 8           // failed attempts in a row; then the next turn's process does the rest
	maxPause    = time.Minute // between two attempts
)

// Drain pushes what waits, until nothing does. Run it in a process of its own: for a repository and
// a remote at most one pushes, at most one more waits for it, and any further one returns at once,
// because the waiting one will find its mission in the queue.
//
// After a failure it pauses, twice as long each time, and gives up after 8 in a row, about 2
// minutes. The first failure after a success goes to the log.
func (r *Remote) Drain(ctx context.Context) error {
	waiting, err := r.w.Store.TryLock("push-waits-" + escape(r.Name))
	if err != nil || waiting == nil {
		return err
	}
	pushing, err := r.lock(ctx, "push-background")
	waiting.Release() // from here on a new process waits: its mission may have come too late for us
	if err != nil {
		return err
	}
	defer pushing.Release()
	for failures := 0; ; {
		if err := r.rest(ctx); err != nil {
			return err
		}
		if r, err = Open(ctx, r.w, r.Name); err != nil || r.Level == "" {
			return err // it may have changed meanwhile
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
			return nil // already reported
		}
	}
}

// drain pushes some missions and records the outcome.
func (r *Remote) drain(ctx context.Context, ids []record.ID) error {
	attempt, cancel := limit.Within(ctx, limit.Of(ctx).Attempt)
	defer cancel()
	known := r.remember()
	list, err := r.PushAll(attempt, ids)
	for _, p := range list {
		err = errors.Join(err, r.tell(ctx, p, known), r.sent(ctx, p))
	}
	return errors.Join(err, r.account(ctx, err))
}

// tell tells the user once what is worth knowing about a push that otherwise went well.
func (r *Remote) tell(ctx context.Context, p *Pushed, known capabilities) error {
	if p.As != p.Mission && p.As != known.As[p.Mission] {
		r.say(fmt.Sprintf("mission %s has gone on here and at %s; ours is mission %s there", p.Mission, r.Name, p.As))
	}
	kept := p.Branch != nil
	if kept == known.Kept[p.Mission] {
		return nil
	}
	if kept {
		r.say(fmt.Sprintf("mission %s was pushed to %s, but not its branch: %v", p.Mission, r.Name, p.Branch))
	}
	return r.learn(ctx, func(m *capabilities) {
		if m.Kept == nil {
			m.Kept = make(map[record.ID]bool)
		}
		m.Kept[p.Mission] = true
		if !kept {
			delete(m.Kept, p.Mission)
		}
	})
}

// account counts failures in a row and reports the first one.
func (r *Remote) account(ctx context.Context, failure error) error {
	failures := r.remember().Failures
	switch {
	case failure == nil && failures == 0:
		return nil
	case failure == nil:
		r.say(fmt.Sprintf("pushed to %s again, after %d failures", r.Name, failures))
		return r.learn(ctx, func(m *capabilities) { m.Failures, m.Failed = 0, time.Time{} })
	}
	if failures == 0 {
		r.say(failure.Error() + "; it will be tried again at later turns")
	}
	return r.learn(ctx, func(m *capabilities) { m.Failures, m.Failed = m.Failures+1, time.Now() })
}

func (r *Remote) say(text string) { r.w.Store.Log(time.Now(), text) }

// restAfter returns how long to wait before the next attempt.
func restAfter(known capabilities, now time.Time) time.Duration {
	if known.Failures == 0 {
		return 0
	}
	whole := min(time.Second<<min(known.Failures-1, 10), maxPause)
	return min(whole-now.Sub(known.Failed), whole) // the clock may have been set back
}

// How often a process checks whether another one has made progress.
const (
	restPoll  = 100 * time.Millisecond // for minutes, if need be
	awaitPoll = 20 * time.Millisecond
)

// rest pauses before the next attempt. It ends early when another process has reached the remote,
// or when the end of a session waits: see [Remote.Await].
func (r *Remote) rest(ctx context.Context) error {
	for {
		left := restAfter(r.remember(), time.Now())
		if left <= 0 || r.state().Remove(r.limitTransfer()) == nil {
			return ctx.Err()
		}
		select {
		case <-time.After(min(left, restPoll)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// limitTransfer is a file that exists while somebody waits for the next attempt.
func (r *Remote) limitTransfer() string { return r.name("hurry") }

// Waits reports whether a mission is waiting to be pushed.
func (r *Remote) Waits(id record.ID) bool {
	_, err := r.state().Lstat(r.waiting(id))
	return err == nil
}

// Await waits until a mission has left the queue, the next attempt fails, or ctx ends. Only the
// background process makes attempts; if it is resting, it makes the next one at once. Await reports
// whether the mission is out of the queue.
func (r *Remote) Await(ctx context.Context, id record.ID) bool {
	known := r.remember()
	if known.Failures > 0 && r.Waits(id) && r.state().WriteFile(r.limitTransfer(), nil) == nil {
		defer func() { _ = r.state().Remove(r.limitTransfer()) }() // it may have come too late for the attempt that we saw
	}
	for r.Waits(id) {
		if now := r.remember(); now.Failures > 0 && !now.Failed.Equal(known.Failed) {
			return false
		}
		select {
		case <-time.After(awaitPoll):
		case <-ctx.Done():
			return false
		}
	}
	return true
}
