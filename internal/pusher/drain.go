package pusher

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gitagent/internal/limit"
	"gitagent/internal/record"
	"gitagent/internal/remote"
)

// settleOne takes a mission out of the queue unless it has moved since. If it
// moved before, it stays without a gap, as another process may await it.
func settleOne(ctx context.Context, r *remote.Remote, p *Pushed) error {
	moved, err := hasMoved(ctx, r, p)
	if !moved && err == nil {
		if err := r.Dequeue(p.Mission); err != nil {
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
func Settle(ctx context.Context, r *remote.Remote, pushed []*Pushed) error {
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
	refs, err := r.Local(ctx, "")
	if err != nil {
		return err
	}
	ours := r.ByMission(refs)
	for _, id := range waiting {
		if ours[id].Zero() {
			errs = append(errs, settleOne(ctx, r, &Pushed{Mission: id}))
		}
	}
	waiting, err = r.Pending()
	if len(waiting) == 0 && err == nil {
		err = r.Account(ctx, nil)
	}
	return errors.Join(append(errs, err)...)
}

func hasMoved(ctx context.Context, r *remote.Remote, p *Pushed) (bool, error) {
	refs, err := r.Local(ctx, p.Mission)
	return err == nil && r.ByMission(refs)[p.Mission] != p.sent, err
}

// maxFailures bounds failures in a row; then the next turn's process does the
// rest.
const maxFailures = 8

// Drain pushes what waits, in a process of its own: at most one pushes for a
// repository and a remote, one more waits, and others return at once, as the
// waiting one will find their missions in the queue. After a failure it pauses,
// twice as long each time, and gives up after 8 in a row, about 2 minutes. The
// first failure after a success is logged.
func Drain(ctx context.Context, r *remote.Remote) error {
	waiting, err := r.TryLockPush("waits-")
	if err != nil || waiting == nil {
		return err
	}
	pushing, err := r.LockPush(ctx, "background-")
	waiting.Release() // from here on a new process waits: its mission may have come too late for us
	if err != nil {
		return err
	}
	defer pushing.Release()
	for failures := 0; ; {
		if err := r.Rest(ctx); err != nil {
			return err
		}
		if r, err = r.Reopen(ctx); err != nil || r.Level == "" {
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

func drain(ctx context.Context, r *remote.Remote, ids []record.ID) error {
	attempt, cancel := limit.Within(ctx, limit.Of(ctx).Attempt)
	defer cancel()
	known := r.Learned()
	list, err := PushAll(attempt, r, ids)
	for _, p := range list {
		err = errors.Join(err, tell(ctx, r, p, known), settleOne(ctx, r, p))
	}
	return errors.Join(err, r.Account(ctx, err))
}

// tell logs once what is worth knowing about a push that went well.
func tell(ctx context.Context, r *remote.Remote, p *Pushed, known remote.Learned) error {
	if p.As != p.Mission && p.As != known.As[p.Mission] {
		r.Say(fmt.Sprintf("mission %s has gone on here and at %s; ours is mission %s there", p.Mission, r, p.As))
	}
	kept := p.Branch != nil
	if kept == known.Kept[p.Mission] {
		return nil
	}
	if kept {
		r.Say(fmt.Sprintf("mission %s was pushed to %s, but not its branch: %v", p.Mission, r, p.Branch))
	}
	return r.Learn(ctx, func(m *remote.Learned) {
		if m.Kept == nil {
			m.Kept = make(map[record.ID]bool)
		}
		m.Kept[p.Mission] = true
		if !kept {
			delete(m.Kept, p.Mission)
		}
	})
}
