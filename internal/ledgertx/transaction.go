// Package ledgertx writes events to the ledgers of missions. It is the one writer: turns,
// handoffs, restores, forks and removals all go through [Run].
//
// A transaction has a mission to itself: this process and the git that moves the refs hold the
// mission's lock, so a lock file that stays on one of these refs has no owner. A transaction
// provides the parts of an event ([Tx.Objects], [Tx.Look]), collects what the event adds
// ([Tx.Append], [Tx.Notes], [Tx.Move]) and writes it ([Tx.Commit]): first all objects, as one pack,
// then all refs together, each only if it is unchanged. The loser of a race starts over.
package ledgertx

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"gitagent/gitnotes"
	"gitagent/internal/archive"
	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/lock"
	"gitagent/internal/record"
	"gitagent/internal/snapshot"
	"gitagent/internal/workspace"
)

// A Tx is one attempt to write one event of a mission.
type Tx struct {
	*workspace.Workspace
	ID      record.ID
	At      time.Time // of the event: UTC, milliseconds
	Objects *git.Objects

	// After Look or Open:
	Snap   *snapshot.Snapshot // nil after Open
	Ledger *ledger.Ledger     // nil if the mission has none; see Begin
	Notes  *gitnotes.Notes    // nil if they are to be left as they are

	Unnoted error // why that is

	// Quarantined, after Look or Open, is the mission that a stranger's part of this one becomes with Commit;
	// empty if there is none. The event follows what the user may rely on.
	Quarantined record.ID

	// Stayed, after Commit, is why the mission's branch did not move; nil if it moved, or was not
	// to. The rest of the event is written.
	Stayed error

	instead bool // see [Job]
	held    *lock.Lock
	reason  string // for reflogs
	start   func() // starts the next three, once
	config  func() (git.Config, error)
	refs    func() (map[string]git.Hash, error)
	warm    func() (git.Hash, error)
	prepare func() // starts the next one, once
	moving  func() (*git.RefTransaction, error)
	tips    map[string]git.Hash // the refs as the transaction found them
	kept    archive.Entry       // the mission, where it is archived and has no ref; else Gone
	moves   []git.Update        // of refs other than the ledger's and the notes'
	branch  git.Hash            // where the mission's branch moves to; zero if it stays
	before  git.Hash            // the ledger's commit that the event follows; zero if it is the first
	grown   bool                // Append was called
}

// A Job describes a transaction.
type Job struct {
	Mission record.ID
	At      time.Time
	What    string   // in a word or two, for reflogs: "stopped"
	Warm    git.Hash // a commit that will probably be read; zero for none
	Instead bool     // of one that is damaged: it begins, if an archive that can't be read may have it
}

// Run lets f write an event, and runs it again when it loses a race. choose is called anew for
// every attempt, since HEAD may have moved. If f looks at the worktree, call Run within [Worktree].
func Run(ctx context.Context, w *workspace.Workspace, choose func(context.Context) (Job, error), f func(context.Context, *Tx) error) error {
	return git.Retry(git.ErrConflict, func() error { return run(ctx, w, choose, f) })
}

// Of always chooses j.
func Of(j Job) func(context.Context) (Job, error) {
	return func(context.Context) (Job, error) { return j, nil }
}

// Worktree runs f while no other process of ours looks at the worktree or changes it.
func Worktree(ctx context.Context, w *workspace.Workspace, f func() error) error {
	held, err := w.Store.LockWorktree(ctx, w.Repo.GitDir)
	if err != nil {
		return err
	}
	defer held.Release()
	if err := git.DropLeft(ctx, held); err != nil {
		return err
	}
	return f()
}

func run(ctx context.Context, w *workspace.Workspace, choose func(context.Context) (Job, error), f func(context.Context, *Tx) error) error {
	j, err := choose(ctx)
	if err != nil {
		return err
	}
	held, err := w.Store.LockMission(ctx, j.Mission)
	if err != nil {
		return err
	}
	defer held.Release()
	if err := git.DropLeft(ctx, held); err != nil {
		return err
	}
	tx := &Tx{
		Workspace: w, ID: j.Mission, At: j.At.UTC().Truncate(time.Millisecond), held: held, instead: j.Instead,
		Objects: w.Repo.Objects(ctx), reason: fmt.Sprintf("agent mission %s: %s", j.Mission, j.What),
	}
	defer tx.Objects.Close()
	tx.start = sync.OnceFunc(func() { tx.startReading(ctx, j.Warm) })
	tx.prepare = sync.OnceFunc(func() { tx.moving = Async(func() (*git.RefTransaction, error) { return tx.beginRefs(ctx) }) })
	defer tx.end()
	return f(ctx, tx)
}

// startReading starts what can overlap with the pass over the worktree, begun first as it takes
// longest.
func (tx *Tx) startReading(ctx context.Context, warm git.Hash) {
	tx.config = Async(func() (git.Config, error) {
		c, err := tx.Repo.Config(ctx)
		if err == nil {
			err = c.Supported()
		}
		return c, err
	})
	tx.refs = Async(func() (map[string]git.Hash, error) { return tx.Repo.Refs(ctx, tx.ID.Ref(), tx.ID.NotesRef()) })
	// HEAD has probably not moved; finding its objects takes as long as the pass over the worktree.
	tx.warm = Async(func() (git.Hash, error) { return tx.Objects.TreeOf(warm) })
}

// end ends what was started and not used.
func (tx *Tx) end() {
	if tx.moving != nil {
		if t, err := tx.moving(); err == nil {
			t.Abort()
		}
	}
	if tx.warm != nil {
		_, _ = tx.warm()
	}
}

func (tx *Tx) beginRefs(ctx context.Context) (*git.RefTransaction, error) {
	return tx.Repo.Holding(tx.held.File()).BeginRefs(ctx, tx.reason)
}

// Prepare starts the git that will move the refs, so that its start overlaps with what comes before
// Commit. Most prompts move none.
func (tx *Tx) Prepare() { tx.prepare() }

// Config is git's configuration.
func (tx *Tx) Config() (git.Config, error) {
	tx.start()
	return tx.config()
}

// OnBranch reports whether HEAD is on the mission's branch, and whether the branch may move, as it
// may not while git has an operation under way.
func (tx *Tx) OnBranch(ctx context.Context) (on, moves bool, err error) {
	head, err := tx.Repo.HeadRef(ctx)
	if err != nil {
		return false, false, fmt.Errorf("read HEAD: %w", err)
	}
	if on = head == tx.Branch(tx.ID); !on {
		return false, false, nil
	}
	op, err := tx.Repo.Operation(ctx)
	return on, op == "" && err == nil, err
}

// Look takes a snapshot of the worktree and opens the mission. With publish the branch can be moved,
// or the worktree changed, afterwards.
func (tx *Tx) Look(ctx context.Context, publish bool) error {
	var err error
	tx.Snap, err = snapshot.Take(ctx, tx.Repo, tx.Objects, snapshot.Options{
		Policy: tx.Policy(), Begun: tx.start, Config: tx.Config, Stored: tx.stored, Publish: publish,
	})
	if err != nil {
		return err
	}
	return tx.Open(ctx)
}

// Open opens the mission, as far as the user may rely on it.
func (tx *Tx) Open(ctx context.Context) error {
	tx.start()
	var err error
	if tx.tips, err = tx.refs(); err != nil {
		return err
	}
	tip, live := tx.tips[tx.ID.Ref()] // zero if that is a file without a hash, as a power cut leaves it
	notes, noted := tx.tips[tx.ID.NotesRef()]
	if !live {
		if err := tx.openArchived(ctx); err != nil {
			return err
		}
		if tip = tx.kept.Ledger; !noted {
			notes = tx.kept.Notes
		}
	}
	if live || !tip.IsZero() {
		if err := tx.open(ctx, tip); err != nil {
			return err
		}
	}
	if tx.Notes, err = gitnotes.Open(tx.Objects, notes); err == nil && noted && notes.IsZero() {
		err = fmt.Errorf("%s is %w", tx.ID.NotesRef(), git.ErrDamaged)
	}
	if err != nil {
		tx.LeaveNotes(err)
	}
	return nil
}

// openArchived finds the mission in the archive. Only a mission without a ref pays for the look.
func (tx *Tx) openArchived(ctx context.Context) error {
	refs, err := tx.Repo.Refs(ctx, archive.IndexRef)
	if err != nil || len(refs) == 0 {
		return err
	}
	index, err := archive.Tip(refs)
	if err == nil {
		tx.kept, err = ledger.Archived(tx.Objects, index, tx.ID)
	}
	if tx.instead && git.Lost(err) {
		return nil
	}
	if err != nil || tx.kept.Branch.IsZero() {
		return err
	}
	branch, err := tx.Repo.Refs(ctx, tx.Branch(tx.ID))
	if len(branch) > 0 { // the user has made it again
		tx.kept.Branch = git.Hash{}
	}
	return err
}

// LeaveNotes leaves the notes as they are, because of err: they can't be read, perhaps. The ledger
// has all that they say, and a stranger can have made them what they are.
func (tx *Tx) LeaveNotes(err error) { tx.Notes, tx.Unnoted = nil, err }

// Begin makes the ledger of a mission that has none.
func (tx *Tx) Begin(m *record.Mission) {
	m.V, m.ID = record.Version, tx.ID
	tx.Ledger = ledger.New(tx.Objects, m)
}

// stored is the tree of the mission's newest code commit, zero if its last event has none. The
// mission's ref keeps the commit.
func (tx *Tx) stored() git.Hash {
	tips, _ := tx.refs()
	tip, ok := tips[tx.ID.Ref()]
	if !ok {
		return git.Hash{}
	}
	parents, err := tx.Objects.Parents(tip)
	if err != nil || len(parents) < 2 {
		return git.Hash{}
	}
	tree, _ := tx.Objects.TreeOf(parents[1]) // zero if it can't be read
	return tree
}

// Append adds an event to the ledger: files by path, nil to remove one, and commits to keep reachable.
func (tx *Tx) Append(subject string, files map[string][]byte, keep ...git.Hash) error {
	config, err := tx.Config()
	if err != nil {
		return err
	}
	if !tx.grown {
		tx.before, tx.grown = tx.Ledger.Tip, true
	}
	tx.Ledger.Mission.Title = string(tx.Purged().Replace([]byte(tx.Ledger.Mission.Title)))
	tip, err := tx.Ledger.Append(ledger.Event{
		Subject: subject, Files: tx.clean(files), Keep: keep,
		Author: config.Author(tx.At), Committer: config.Committer(tx.At), Key: tx.Trust.Keys().Own,
	})
	if err != nil {
		return err
	}
	tx.Ledger, err = ledger.At(tx.Objects, tx.ID, tip)
	return err
}

// clean takes out of files what was purged in this repository.
func (tx *Tx) clean(files map[string][]byte) map[string][]byte {
	known := tx.Purged()
	if known.Empty() {
		return files
	}
	out := make(map[string][]byte, len(files))
	for path, content := range files {
		switch {
		case strings.HasSuffix(path, ".json"), strings.HasSuffix(path, ".jsonl"):
			out[path] = known.ReplaceJSON(content)
		default:
			out[path] = known.Replace(content)
		}
	}
	return out
}

// Note adds a line to the note on a commit. The notes must not be nil.
func (tx *Tx) Note(on git.Hash, line []byte) error {
	return tx.Notes.Append(on, tx.Purged().ReplaceJSON(line))
}

// CommitTree stages a commit with the user's identity.
func (tx *Tx) CommitTree(tree git.Hash, parents []git.Hash, message string) (git.Hash, error) {
	config, err := tx.Config()
	if err != nil {
		return git.Hash{}, err
	}
	message = string(tx.Purged().Replace([]byte(message)))
	return tx.Objects.CommitTree(tree, parents, config.Author(tx.At), config.Committer(tx.At), message)
}

// Head is HEAD's commit as the snapshot found it or, on an unborn branch, a new root commit with
// the empty tree and message.
func (tx *Tx) Head(message string) (git.Hash, error) {
	if head := tx.Snap.Head.Commit; !head.IsZero() {
		return head, nil
	}
	tree, err := tx.Objects.EmptyTree()
	if err != nil {
		return git.Hash{}, err
	}
	return tx.CommitTree(tree, nil, message)
}

// MoveBranch lets Commit move the mission's branch, which is checked out, to a commit with the
// snapshot's tree; the user's index goes with it.
func (tx *Tx) MoveBranch(to git.Hash) { tx.branch = to }

// HeadNow is HEAD's commit after Commit.
func (tx *Tx) HeadNow() git.Hash {
	if !tx.branch.IsZero() && tx.Stayed == nil {
		return tx.branch
	}
	return tx.Snap.Head.Commit
}

// Move lets Commit move another ref with the rest; the zero hash stands for no ref.
func (tx *Tx) Move(ref string, to, from git.Hash) {
	tx.moves = append(tx.moves, git.Update{Ref: ref, New: to, Old: from})
}

// Commit writes all objects, then moves all refs. The error wraps [git.ErrConflict] if one of them
// has changed since. If only the branch can't be moved, that is no error: see Stayed.
func (tx *Tx) Commit(ctx context.Context) error {
	tx.start()
	updates, err := tx.updates()
	if err != nil {
		return err
	}
	if len(updates) == 0 && tx.branch.IsZero() {
		return nil
	}
	if err := tx.Objects.Flush(); err != nil {
		return err
	}
	if tx.grown {
		if err := tx.Trust.Own(tx.ID, tx.Ledger.Tip, tx.before); err != nil {
			return err
		}
	}
	tx.prepare()
	proc, err := tx.moving()
	if err != nil {
		return err
	}
	if !tx.branch.IsZero() {
		// The index comes first: see snapshot.Publish.
		switch err := tx.Snap.Publish(ctx); {
		case errors.Is(err, snapshot.ErrIndexBusy):
			tx.Stayed = tx.Repo.Locked(err, "index")
		case err != nil:
			return err
		default:
			branch := git.Update{Ref: tx.Branch(tx.ID), New: tx.branch, Old: tx.Snap.Head.Commit}
			err := MoveRefs(ctx, tx.Repo, tx.held, proc, append(updates, branch))
			if err == nil || errors.Is(err, git.ErrConflict) || len(updates) == 0 {
				return err
			}
			tx.Stayed = err
			if proc, err = tx.beginRefs(ctx); err != nil {
				return err
			}
		}
	}
	return MoveRefs(ctx, tx.Repo, tx.held, proc, updates)
}

// updates lists the moves of all refs except the mission's branch.
func (tx *Tx) updates() ([]git.Update, error) {
	updates := tx.moves
	move := func(ref string, to git.Hash) {
		if from := tx.tips[ref]; from != to {
			updates = append(updates, git.Update{Ref: ref, New: to, Old: from})
		}
	}
	if !tx.kept.Gone() && !tx.grown {
		return updates, nil // it stays archived
	}
	if tx.Ledger != nil {
		move(tx.ID.Ref(), tx.Ledger.Tip)
	}
	if !tx.kept.Branch.IsZero() { // an archived mission goes on: it has its refs again
		move(tx.Branch(tx.ID), tx.kept.Branch)
	}
	notes := tx.tips[tx.ID.NotesRef()]
	if notes.IsZero() {
		notes = tx.kept.Notes
	}
	if tx.Notes != nil {
		config, err := tx.Config()
		if err != nil {
			return nil, err
		}
		to, err := tx.Notes.Commit(config.Author(tx.At), config.Committer(tx.At), fmt.Sprintf("mission %s", tx.ID))
		if err != nil {
			tx.LeaveNotes(err)
		} else {
			notes = to
		}
	}
	move(tx.ID.NotesRef(), notes)
	return updates, nil
}

// Async runs f in the background; the returned function waits for the result. A panic of f becomes
// an error: status 2 would tell a client to continue the turn.
func Async[T any](f func() (T, error)) func() (T, error) {
	done := make(chan struct{})
	var v T
	var err error
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			}
		}()
		v, err = f()
	}()
	return func() (T, error) {
		<-done
		return v, err
	}
}
