package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// ErrConflict reports that a ref is no longer what a transaction was built on:
// read again, rebuild, retry.
var ErrConflict = errors.New("a ref has moved meanwhile")

// An Update is one step of a ref transaction.
type Update struct {
	Ref string        // full name
	New plumbing.Hash // the zero hash deletes
	Old plumbing.Hash // what the ref must be now; the zero hash: it must not exist
}

// A RefTransaction moves several refs together or none of them.
// It holds a waiting `git update-ref --stdin`, so that nothing but the update itself
// is left to do when the objects are there.
type RefTransaction struct {
	repo *Repo
	proc *Process
}

// refLockWait is how long git waits for the lock of a ref, ms. Git's own 100 ms are little
// on a busy machine: a git whose parent was killed may still be about to give its lock up.
const refLockWait = "1000"

// BeginRefs starts a transaction. The caller ends it with Commit or Abort.
// reason goes into the reflogs of the refs that have one.
// The user's reference-transaction hook does not run: it could veto a turn.
func (r *Repo) BeginRefs(ctx context.Context, reason string) (*RefTransaction, error) {
	p, err := r.Start(ctx, "-c", "core.hooksPath="+os.DevNull, "-c", "core.filesRefLockTimeout="+refLockWait,
		"update-ref", "-m", reason, "--stdin", "-z")
	if err != nil {
		return nil, err
	}
	return &RefTransaction{repo: r, proc: p}, nil
}

// Abort ends the transaction without an effect. After Commit it does nothing.
func (t *RefTransaction) Abort() { t.proc.Kill() }

// Commit moves every ref to its new value, or none of them.
// If one of them is not what the update expects, the error wraps [ErrConflict].
func (t *RefTransaction) Commit(ctx context.Context, updates []Update) error {
	var in bytes.Buffer
	in.WriteString("start\x00")
	names := make([]string, 0, len(updates))
	for _, u := range updates {
		fmt.Fprintf(&in, "update %s\x00%s\x00%s\x00", u.Ref, u.New, u.Old)
		names = append(names, u.Ref)
	}
	in.WriteString("prepare\x00commit\x00")
	_, err := t.proc.Finish(in.Bytes())
	if err == nil {
		return nil
	}
	// Ask the repository what happened; do not read git's prose.
	now, readErr := t.repo.Refs(ctx, names...)
	if readErr != nil {
		return fmt.Errorf("move %s: %w", strings.Join(names, " "), err)
	}
	moved := true
	for _, u := range updates {
		moved = moved && now[u.Ref] == u.New
	}
	if moved {
		return nil // git was killed after it had committed
	}
	for _, u := range updates {
		if now[u.Ref] != u.Old {
			return fmt.Errorf("move %s: %w", u.Ref, ErrConflict)
		}
	}
	return fmt.Errorf("move %s: %w", strings.Join(names, " "), err)
}

// staleLock is how old a lock file must be to be taken for one that a killed git left:
// git holds a ref's lock for milliseconds.
const staleLock = 10 * time.Second

// AwaitLocks waits until none of the refs is locked. A lock that gets older than 10 s was left by a git that was killed,
// and is removed; the caller makes sure that all the refs are git-agent's own. It reports whether there was any lock.
func (r *Repo) AwaitLocks(ctx context.Context, refs ...string) (bool, error) {
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	found := false
	for {
		locked := false
		for _, ref := range refs {
			path := filepath.Join(r.CommonDir, filepath.FromSlash(ref))
			if _, err := os.Lstat(path + ".lock"); err == nil {
				found = true
				locked = locked || !DropStaleLock(time.Now(), path)
			}
		}
		if !locked {
			return found, nil
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			return found, ctx.Err()
		}
	}
}

// DropStaleLock removes the lock file of one file, if it is older than 10 s at now.
func DropStaleLock(now time.Time, path string) bool {
	info, err := os.Lstat(path + ".lock")
	if err != nil || now.Sub(info.ModTime()) < staleLock {
		return false
	}
	return os.Remove(path+".lock") == nil
}

// UpdateRefs is a whole transaction: every ref moves, or none does.
func (r *Repo) UpdateRefs(ctx context.Context, reason string, updates []Update) error {
	t, err := r.BeginRefs(ctx, reason)
	if err != nil {
		return err
	}
	return t.Commit(ctx, updates)
}
