package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"gitagent/internal/limit"
)

// ErrIndexBusy reports that the user's index was locked for longer than Publish
// waits, or changed since the snapshot.
var ErrIndexBusy = errors.New("the index is in use")

// Publish replaces the user's index with the one that [Take] prepared to match
// the tree. The branch moves afterwards: a process that dies in between leaves
// staged files, while in the opposite order the user's next commit would delete
// the turn's files. If the user's index is locked or has changed, the error
// wraps [ErrIndexBusy].
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

func (x *privateIndex) newPath() string { return x.dir.Path(newFile) }

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

// linkWhenFree creates git's lock on the index with its content, in one step.
func linkWhenFree(ctx context.Context, from, lock string) error {
	most := limit.Of(ctx).Index
	var over <-chan time.Time
	if most > 0 {
		over = time.After(most)
	}
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for {
		err := os.Link(from, lock)
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		if info, err := os.Lstat(lock); err == nil && most > 0 && time.Since(info.ModTime()) > most {
			return ErrIndexBusy
		}
		select {
		case <-poll.C:
		case <-over:
			return ErrIndexBusy
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// recover removes an index.lock left by a Publish that died, and no others.
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
