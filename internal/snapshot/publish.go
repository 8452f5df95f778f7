package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// ErrIndexBusy reports that the user's index was locked for more than a second,
// or changed while the snapshot was taken.
var ErrIndexBusy = errors.New("the index is in use")

// lockWait is how long Publish waits for the user's index.lock.
const lockWait = time.Second

// Publish puts the index that [Take] made ready in the place of the user's, so that the user's
// holds what the snapshot's tree holds. The branch moves after it: a process that dies between the
// two leaves staged files, which harms nobody, where the opposite order
// would let the user's next commit delete the turn's files.
//
// If the user's index is locked or has changed, the error wraps [ErrIndexBusy].
func (s *Snapshot) Publish(ctx context.Context) error {
	if !s.fresh {
		return nil
	}
	if err := s.index.publish(ctx); err != nil {
		return fmt.Errorf("update the index: %w", err)
	}
	s.fresh = false
	return nil
}

func (x *privateIndex) newPath() string { return filepath.Join(x.dir, "index.new") }

func (x *privateIndex) publish(ctx context.Context) error {
	fresh, lock := x.newPath(), x.users+".lock"
	if err := linkWhenFree(ctx, fresh, lock); err != nil {
		return err
	}
	if x.from == nil && exists(x.users) || x.from != nil && !x.current() {
		_ = os.Remove(lock)
		return ErrIndexBusy
	}
	if err := os.Rename(lock, x.users); err != nil {
		_ = os.Remove(lock)
		return err
	}
	_ = os.Remove(fresh)
	from := x.now()
	from.Cached = x.cached()
	return x.remember(from)
}

// linkWhenFree takes git's lock on the index in one step with its content.
func linkWhenFree(ctx context.Context, from, lock string) error {
	deadline := time.NewTimer(lockWait)
	defer deadline.Stop()
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for {
		err := os.Link(from, lock)
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		select {
		case <-poll.C:
		case <-deadline.C:
			return ErrIndexBusy
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// recover removes what a process that died inside publish has left: an index.lock that is
// our own file. Nobody else's lock is ever touched.
func (x *privateIndex) recover() {
	fresh, err := os.Lstat(x.newPath())
	if err != nil {
		return
	}
	if lock, err := os.Lstat(x.users + ".lock"); err == nil && os.SameFile(fresh, lock) {
		_ = os.Remove(x.users + ".lock")
	}
	_ = os.Remove(x.newPath())
}
