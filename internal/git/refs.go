package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ErrConflict reports that a ref no longer has the expected value: read again, rebuild, retry.
var ErrConflict = errors.New("a ref has moved meanwhile")

// MaxAttempts is how often a lost race is run in all.
const MaxAttempts = 20

// Retry runs try again while its error wraps lost, mostly [ErrConflict].
func Retry(lost error, try func() error) error {
	for attempt := 1; ; attempt++ {
		if err := try(); !errors.Is(err, lost) || attempt == MaxAttempts {
			return err
		}
	}
}

// An Update is one step of a ref transaction.
type Update struct {
	Ref string // full name
	New Hash   // the zero hash deletes
	Old Hash   // its expected value; the zero hash: it must not exist
}

// A RefTransaction moves several refs together or none of them. It holds a waiting `git update-ref
// --stdin`, so that only the update itself is left to do once the objects are there.
type RefTransaction struct {
	repo *Repo
	proc *Process
}

// refLockWait is how long git waits for the lock of a ref, ms. Git's own 100 ms are little
// on a busy machine: a git whose parent was killed may still be about to give its lock up. In tables, all refs
// have one lock.
const refLockWait = "900"

// BeginRefs starts a transaction. The caller ends it with Commit or Abort. reason is for reflogs.
// The user's reference-transaction hook does not run: it could veto a turn.
func (r *Repo) BeginRefs(ctx context.Context, reason string) (*RefTransaction, error) {
	p, err := r.Start(ctx, "-c", "core.hooksPath="+os.DevNull, "-c", "core.filesRefLockTimeout="+refLockWait, "-c", "reftable.lockTimeout="+refLockWait,
		"-c", "core.warnAmbiguousRefs=false", // or git looks for six refs named like each hash
		"update-ref", "-m", reason, "--stdin", "-z")
	if err != nil {
		return nil, err
	}
	return &RefTransaction{repo: r, proc: p}, nil
}

// Abort ends the transaction without effect. After Commit it does nothing.
func (t *RefTransaction) Abort() { t.proc.Kill() }

// Commit moves every ref to its new value, or none of them. If one does not have its expected
// value, the error wraps [ErrConflict].
func (t *RefTransaction) Commit(ctx context.Context, updates []Update) error {
	var in bytes.Buffer
	in.WriteString("start\x00")
	names, format := make([]string, 0, len(updates)), t.repo.Format()
	for _, u := range updates {
		if !format.Names(u.New, u.Old) { // git could take it for an abbreviation
			t.Abort()
			return fmt.Errorf("move %s to %s: that names no object here", u.Ref, u.New)
		}
		fmt.Fprintf(&in, "update %s\x00%s\x00%s\x00", u.Ref, format.Text(u.New), format.Text(u.Old))
		names = append(names, u.Ref)
	}
	in.WriteString("commit\x00")
	_, err := t.proc.finish(in.Bytes(), "commit: ok\n")
	if err == nil {
		return nil
	}
	// Ask the repository what happened, rather than read git's prose.
	now, readErr := t.repo.Refs(ctx, names...)
	if readErr != nil {
		return fmt.Errorf("move %s: %w", strings.Join(names, " "), err)
	}
	if !slices.ContainsFunc(updates, func(u Update) bool { return now[u.Ref] != u.New }) {
		return nil // git was killed after it had committed
	}
	for _, u := range updates {
		if now[u.Ref] != u.Old {
			return fmt.Errorf("move %s: %w", u.Ref, ErrConflict)
		}
	}
	return fmt.Errorf("move %s: %w", strings.Join(names, " "), t.repo.Locked(err, append(names, "HEAD", "packed-refs")...))
}

// UpdateRefs runs a whole transaction: every ref moves, or none does.
func (r *Repo) UpdateRefs(ctx context.Context, reason string, updates []Update) error {
	t, err := r.BeginRefs(ctx, reason)
	if err != nil {
		return err
	}
	return t.Commit(ctx, updates)
}

// LockedBy returns the files, without .lock, that a transaction of these updates is about to lock:
// the refs, HEAD, which may be on one of them, and packed-refs if a ref is deleted, or the lists of tables. It leaves
// out those that another process has locked now.
func (r *Repo) LockedBy(updates []Update) []string {
	files := append(r.TableLists(), filepath.Join(r.GitDir, "HEAD"))
	for _, u := range updates {
		files = append(files, filepath.Join(r.CommonDir, filepath.FromSlash(u.Ref)))
		if u.New.IsZero() {
			files = append(files, filepath.Join(r.CommonDir, "packed-refs"))
		}
	}
	return slices.DeleteFunc(files, func(file string) bool {
		_, err := os.Lstat(file + ".lock")
		return err == nil
	})
}
