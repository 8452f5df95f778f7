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

	"gitagent/internal/git/object"
)

// ErrConflict reports that a ref has moved: read again, rebuild, retry.
var ErrConflict = errors.New("a ref has moved meanwhile")

// ErrHalf reports that git has moved some refs of a transaction, and failed at
// others. With files for refs it writes their logs one after the other.
var ErrHalf = errors.New("git has moved some refs only")

// MaxAttempts is how often [Retry] tries in all.
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
	Ref string      // full name
	New object.Hash // the zero hash deletes
	Old object.Hash // the expected value; zero means that it must not exist
	// Anyway moves it whatever it is at; see [Keeper.Updates].
	Anyway bool
}

// A RefTransaction moves several refs or none. Its `git update-ref --stdin` is
// started early, to overlap with writing objects.
type RefTransaction struct {
	repo *Repo
	proc *Process
}

// refLockWait is how long git waits for a ref's lock, in ms. Git's 100 is short
// on a busy machine: an orphaned git may be about to unlock. All refs in tables
// share one lock.
const refLockWait = "900"

// BeginRefs starts a transaction, to be ended with Commit or Abort. reason is
// for reflogs.
func (r *Repo) BeginRefs(ctx context.Context, reason string) (*RefTransaction, error) {
	p, err := r.Start(ctx, "update-ref", "-m", reason, "--stdin", "-z")
	if err != nil {
		return nil, err
	}
	return &RefTransaction{repo: r.Watched(nil), proc: p}, nil
}

// Abort ends the transaction without effect. After Commit it does nothing.
func (t *RefTransaction) Abort() { t.proc.Kill() }

// Commit moves all refs or none. The error wraps [ErrConflict] if one does not
// have its expected value.
func (t *RefTransaction) Commit(ctx context.Context, updates []Update) error {
	names, err := t.send(updates, "commit\x00", "commit: ok\n")
	if names == nil || err == nil {
		return err
	}
	// Ask the repository what happened, rather than read git's prose.
	now, readErr := t.repo.Refs(ctx, names...)
	if readErr != nil {
		return fmt.Errorf("move %s: %w", strings.Join(names, " "), err)
	}
	if len(names) > 0 && !slices.ContainsFunc(updates, func(u Update) bool { return !u.Anyway && now[u.Ref] != u.New }) {
		return nil // git was killed after it had committed
	}
	half := false
	for _, u := range updates {
		switch at := now[u.Ref]; {
		case u.Anyway || at == u.Old:
		case at == u.New:
			half = true
		default:
			return fmt.Errorf("move %s: %w", u.Ref, ErrConflict)
		}
	}
	if half {
		return fmt.Errorf("move %s: %w: %w", strings.Join(names, " "), ErrHalf, err)
	}
	var all []string
	for _, u := range updates {
		all = append(all, strings.TrimPrefix(u.Ref, fromMain))
	}
	return fmt.Errorf("move %s: %w", strings.Join(names, " "), t.repo.Locked(err, append(all, "HEAD", "packed-refs")...))
}

// Try ends the transaction as Commit does, up to where git has locked all refs
// and compared them, and moves none.
func (t *RefTransaction) Try(updates []Update) error {
	names, err := t.send(updates, "prepare\x00abort\x00", "abort: ok\n")
	if names == nil || err == nil {
		return err
	}
	return fmt.Errorf("move %s: %w", strings.Join(names, " "), t.repo.Locked(err, append(names, "HEAD")...))
}

// send tells git the updates and how the transaction ends, which it confirms
// with the line last. The names of the refs are nil if git was told nothing.
func (t *RefTransaction) send(updates []Update, end, last string) (names []string, err error) {
	in, format := bytes.NewBufferString("start\x00"), t.repo.Format()
	names = make([]string, 0, len(updates))
	for _, u := range updates {
		if !format.Names(u.New, u.Old) { // git might take it for an abbreviation
			t.Abort()
			return nil, fmt.Errorf("move %s to %s: that names no object here", u.Ref, u.New)
		}
		if !strings.HasPrefix(u.Ref, "refs/heads/") { // a symbolic ref would move what it leads to
			in.WriteString("option no-deref\x00")
		}
		if u.Anyway {
			fmt.Fprintf(in, "update %s\x00%s\x00\x00", u.Ref, format.Text(u.New))
			continue
		}
		fmt.Fprintf(in, "update %s\x00%s\x00%s\x00", u.Ref, format.Text(u.New), format.Text(u.Old))
		names = append(names, u.Ref)
	}
	in.WriteString(end)
	if !t.repo.InTables() {
		for _, u := range updates {
			t.repo.MakeWays(t.repo.fileOf(u.Ref))
		}
	}
	_, err = t.proc.finish(in.Bytes(), last)
	return names, err
}

// UpdateRefs runs a whole transaction: every ref moves, or none does.
func (r *Repo) UpdateRefs(ctx context.Context, reason string, updates []Update) error {
	t, err := r.BeginRefs(ctx, reason)
	if err != nil {
		return err
	}
	err = t.Commit(ctx, updates)
	r.handOver(r.LockedBy(updates))
	return err
}

// LockedBy returns the files, without .lock, that a transaction will lock:
// refs, HEAD, which may be on one, packed-refs for deletions, and the lists of
// tables. It omits those locked now by others.
func (r *Repo) LockedBy(updates []Update) []string {
	files := append(r.TableLists(), filepath.Join(r.ownRefsDir(), "HEAD"))
	for _, u := range updates {
		files = append(files, r.fileOf(u.Ref))
		if u.New.IsZero() {
			files = append(files, filepath.Join(r.RefsDir(), "packed-refs"))
		}
	}
	return slices.DeleteFunc(files, func(file string) bool {
		_, err := os.Lstat(file + ".lock")
		return err == nil
	})
}
