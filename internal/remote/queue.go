package remote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"gitagent/internal/record"
)

// The queue is a directory with an empty file for each mission: added after its
// refs moved, removed once these very values were pushed. So it survives a
// crash.

func (r *Remote) waiting(id record.ID) string { return r.name(string(id)) }

// Later queues a mission. The caller then starts a process that drains.
func (r *Remote) Later(id record.ID) error {
	if err := r.state().WriteFile(r.waiting(id), nil); err != nil {
		return fmt.Errorf("queue mission %s for %s: %w", id, r, err)
	}
	return nil
}

// Inherit queues what waits under the keys that the remote had when it had other
// URLs.
func (r *Remote) Inherit(ctx context.Context) error {
	whole, err := Open(ctx, r.Workspace, r.Name)
	if err != nil {
		return err
	}
	split := whole.Each()
	entries, err := r.state().ReadDir(queues)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		old := *r
		old.key = e.Name()
		name, _, _ := strings.Cut(old.key, ofURL)
		if name != Escape(r.Name) || slices.ContainsFunc(split, func(r *Remote) bool { return r.key == old.key }) {
			continue
		}
		ids, err := old.Pending()
		if err != nil {
			return err
		}
		for _, id := range ids {
			for _, r := range whole.Agreed() {
				if err := r.Later(id); err != nil {
					return err
				}
			}
			if err := old.Dequeue(id); err != nil {
				return err
			}
		}
	}
	return nil
}

// queues is the directory of the queues, and of what was learned.
const queues = "push"

// Dequeue takes a mission out of the queue, if it is there.
func (r *Remote) Dequeue(id record.ID) error {
	err := r.state().Remove(r.waiting(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Pending lists the missions that wait to be pushed, in order of their ids.
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
	slices.Sort(ids)
	return ids, nil
}

// ErrRejected reports that the remote was reached but rejected the push.
var ErrRejected = errors.New("the remote rejected it")

// Account counts failures in a row, nil for none. It logs the first one, and
// when they end.
func (r *Remote) Account(ctx context.Context, failure error) error {
	failures := r.Learned().Failures
	switch {
	case failure == nil && failures == 0:
		return nil
	case failure == nil:
		r.Say(fmt.Sprintf("pushed to %s again, after %d failures", r, failures))
		return r.Learn(ctx, func(m *Learned) { m.Failures, m.Failed, m.Rejected = 0, time.Time{}, false })
	}
	if failures == 0 {
		r.Say(failure.Error() + "; it will be tried again at later turns")
	}
	return r.Learn(ctx, func(m *Learned) {
		m.Failures, m.Failed, m.Rejected = m.Failures+1, time.Now(), errors.Is(failure, ErrRejected)
	})
}

// Say logs something about the remote.
func (r *Remote) Say(text string) { r.Workspace.Store.Log(time.Now(), text) }

// WarnOf passes on what is worth knowing about a push.
func (r *Remote) WarnOf(ctx context.Context, text string) error {
	switch {
	case r.Warn != nil:
		r.Warn(text)
	case text != r.Learned().Warned:
		r.Say(fmt.Sprintf("pushing to %s: %s", r, text))
		return r.Learn(ctx, func(m *Learned) { m.Warned = text })
	}
	return nil
}

func restAfter(known Learned, now time.Time) time.Duration {
	if known.Failures == 0 {
		return 0
	}
	whole := min(time.Second<<min(known.Failures-1, 10), maxPause)
	return min(whole-now.Sub(known.Failed), whole) // the clock may have been set back
}

const (
	maxPause  = time.Minute            // between two attempts
	restPoll  = 100 * time.Millisecond // for minutes, if need be
	awaitPoll = 20 * time.Millisecond
)

// Rest pauses before the next attempt, until another process has reached the
// remote or the end of a session waits in [Remote.Await].
func (r *Remote) Rest(ctx context.Context) error {
	for {
		left := restAfter(r.Learned(), time.Now())
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
	known := r.Learned()
	if known.Failures > 0 && r.Waits(id) && r.state().WriteFile(r.limitTransfer(), nil) == nil {
		defer func() { _ = r.state().Remove(r.limitTransfer()) }() // the process may not have seen it
	}
	for r.Waits(id) {
		if now := r.Learned(); now.Failures > 0 && !now.Failed.Equal(known.Failed) {
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

// A QueueStatus is what is known about pushes to a remote.
type QueueStatus struct {
	Waiting  int       // missions
	Failures int       // in a row, in the background
	Failed   time.Time // the last one
	Rejected bool      // by the remote, which was reached
}

// QueueStatus returns the state of pushes to the remote.
func (r *Remote) QueueStatus() (QueueStatus, error) {
	ids, err := r.Pending()
	if err != nil {
		return QueueStatus{}, fmt.Errorf("read the queue of %s: %w", r, err)
	}
	known := r.Learned()
	return QueueStatus{Waiting: len(ids), Failures: known.Failures, Failed: known.Failed, Rejected: known.Rejected}, nil
}
