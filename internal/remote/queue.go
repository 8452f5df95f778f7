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

// The queue is a directory with an empty file for each mission: added after its
// refs moved, removed once these very values were pushed. So it survives a
// crash.

func (r *Remote) waiting(id record.ID) string { return r.name(string(id)) }

// Later queues a mission. The caller then starts a process that drains.
func (r *Remote) Later(id record.ID) error {
	if err := r.state().WriteFile(r.waiting(id), nil); err != nil {
		return fmt.Errorf("queue mission %s for %s: %w", id, r.Name, err)
	}
	return nil
}

func (r *Remote) dequeue(id record.ID) error {
	err := r.state().Remove(r.waiting(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Pending lists the missions that wait to be pushed, in order.
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

// settleOne takes a mission out of the queue unless it has moved since. If it moved
// before, it stays without a gap, as another process may await it.
func settleOne(ctx context.Context, r *Remote, p *Pushed) error {
	moved, err := hasMoved(ctx, r, p)
	if !moved && err == nil {
		if err := r.dequeue(p.Mission); err != nil {
			return err
		}
		moved, err = hasMoved(ctx, r, p)
	}
	if moved {
		return r.Later(p.Mission)
	}
	return err
}

// Settle takes out of the queue what was pushed by hand or removed since. When
// nothing waits any more, earlier failures are forgotten.
func Settle(ctx context.Context, r *Remote, pushed []*Pushed) error {
	waiting, err := r.Pending()
	if err != nil {
		return err
	}
	var errs []error
	for _, p := range pushed {
		if slices.Contains(waiting, p.Mission) {
			errs = append(errs, settleOne(ctx, r, p))
		}
	}
	refs, err := r.local(ctx, "")
	if err != nil {
		return err
	}
	ours := r.byMission(refs)
	for _, id := range waiting {
		if ours[id].zero() {
			errs = append(errs, settleOne(ctx, r, &Pushed{Mission: id}))
		}
	}
	waiting, err = r.Pending()
	if len(waiting) == 0 && err == nil {
		err = r.account(ctx, nil)
	}
	return errors.Join(append(errs, err)...)
}

func hasMoved(ctx context.Context, r *Remote, p *Pushed) (bool, error) {
	refs, err := r.local(ctx, p.Mission)
	return err == nil && r.byMission(refs)[p.Mission] != p.sent, err
}

const (
	maxFailures = 8           // in a row; then the next turn's process does the rest
	maxPause    = time.Minute // between two attempts
)

// Drain pushes what waits, in a process of its own: at most one pushes for a
// repository and a remote, one more waits, and others return at once, as the
// waiting one will find their missions in the queue. After a failure it pauses,
// twice as long each time, and gives up after 8 in a row, about 2 minutes. The
// first failure after a success is logged.
func Drain(ctx context.Context, r *Remote) error {
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
		if err := drain(ctx, r, ids); err == nil {
			failures = 0
			continue
		}
		if failures++; failures == maxFailures {
			return nil // already reported
		}
	}
}

func drain(ctx context.Context, r *Remote, ids []record.ID) error {
	attempt, cancel := limit.Within(ctx, limit.Of(ctx).Attempt)
	defer cancel()
	known := r.remember()
	list, err := PushAll(attempt, r, ids)
	for _, p := range list {
		err = errors.Join(err, tell(ctx, r, p, known), settleOne(ctx, r, p))
	}
	return errors.Join(err, r.account(ctx, err))
}

// tell logs once what is worth knowing about a push that went well.
func tell(ctx context.Context, r *Remote, p *Pushed, known capabilities) error {
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

func restAfter(known capabilities, now time.Time) time.Duration {
	if known.Failures == 0 {
		return 0
	}
	whole := min(time.Second<<min(known.Failures-1, 10), maxPause)
	return min(whole-now.Sub(known.Failed), whole) // the clock may have been set back
}

const (
	restPoll  = 100 * time.Millisecond // for minutes, if need be
	awaitPoll = 20 * time.Millisecond
)

// rest pauses before the next attempt, until another process has reached the
// remote or the end of a session waits in [Remote.Await].
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

// limitTransfer returns the file that exists while an attempt is awaited.
func (r *Remote) limitTransfer() string { return r.name("hurry") }

// Waits reports whether a mission waits to be pushed.
func (r *Remote) Waits(id record.ID) bool {
	_, err := r.state().Lstat(r.waiting(id))
	return err == nil
}

// Await waits until a mission has left the queue, which it reports, the next
// attempt fails, or ctx ends. It ends the background process's rest.
func (r *Remote) Await(ctx context.Context, id record.ID) bool {
	known := r.remember()
	if known.Failures > 0 && r.Waits(id) && r.state().WriteFile(r.limitTransfer(), nil) == nil {
		defer func() { _ = r.state().Remove(r.limitTransfer()) }() // the process may not have seen it
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
