// Package ledgertx is the only writer of ledgers: turns, handoffs, restores,
// forks and removals use [Run].
//
// In a transaction this process, with its git, holds the mission's lock, so a
// lock left on a ref has no owner. It provides what an event needs
// ([Tx.Objects], [Tx.Look]), collects what it adds ([Tx.Append], [Tx.Notes],
// [Tx.Move]) and writes ([Tx.Commit]) first all objects, as one pack, then all
// refs together, if unchanged. The loser of a race starts over.
package ledgertx

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"gitagent/gitnotes"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/scrub"
	"gitagent/internal/snapshot"
	"gitagent/internal/statedir"
	"gitagent/internal/workspace"
)

// A Tx is one attempt to write one event of a mission.
type Tx struct {
	*workspace.Workspace
	ID      record.ID
	At      time.Time // of the event: UTC, milliseconds
	Objects *git.Objects

	// Set by Look or Open.
	Snap   *snapshot.Snapshot // nil after Open
	Ledger *ledger.Ledger     // nil if the mission has none; see Begin
	Notes  *gitnotes.Notes    // nil if they stay as they are

	Unnoted error // why Notes is nil

	// Quarantined, after Look or Open, is the mission that the untrusted part
	// becomes with Commit, or "". The event follows the trusted part.
	Quarantined record.ID

	// Stayed, after Commit, is why the branch, but nothing else, did not move.
	Stayed error

	instead bool // see [Job]
	held    *statedir.Lock
	reason  string // for reflogs
	start   func() // starts the next three, once
	config  func() (git.Config, error)
	refs    func() (map[string]object.Hash, error)
	warm    func() (object.Hash, error)
	prepare func() // starts the next one, once
	moving  func() (*git.RefTransaction, error)
	tips    map[string]object.Hash // the refs as found
	kept    ledger.ArchiveEntry    // the mission if it is archived without a ref; else Gone
	moves   []git.Update           // of refs other than the ledger's and the notes'
	branch  object.Hash            // where the mission's branch moves; zero if it stays
	before  object.Hash            // the ledger's commit before the event, or zero
	grown   bool                   // Append was called
	keeper  git.Keeper             // of the mission
	pointed bool                   // its symbolic ref is there
	keeping object.Hash            // where the keeper moves
	left    object.Hash            // where this clone left the mission before, or zero
	back    object.Hash            // where the mission stands, if its ref is elsewhere
	told    func()                 // tells the user that it is there again
	noted   bool                   // these are the first notes of a mission with a branch
}

// A Job describes a transaction.
type Job struct {
	Mission record.ID
	At      time.Time
	What    string      // in a word or two, for reflogs: "stopped"
	Warm    object.Hash // a commit that will probably be read, or zero
	Instead bool        // replaces a damaged one: begins even if an unreadable archive may have it

	Config func() (git.Config, error) // returns what [ReadConfig] has read before; may be nil
}

// Run calls choose and f to write an event, again after each lost race, as HEAD
// may have moved. If f looks at the worktree, use [Worktree].
func Run(ctx context.Context, w *workspace.Workspace, choose func(context.Context) (Job, error), f func(context.Context, *Tx) error) error {
	return git.Retry(git.ErrConflict, func() error { return run(ctx, w, choose, f) })
}

// Of returns a function that chooses j.
func Of(j Job) func(context.Context) (Job, error) {
	return func(context.Context) (Job, error) { return j, nil }
}

// Worktree runs f with the worktree locked against our other processes.
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
	tx.start = sync.OnceFunc(func() { tx.startReading(ctx, j) })
	tx.prepare = sync.OnceFunc(func() { tx.moving = Async(func() (*git.RefTransaction, error) { return tx.beginRefs(ctx) }) })
	defer tx.end()
	err = f(ctx, tx)
	if err == nil && tx.noted {
		FollowRewrites(ctx, w, j.Mission)
	}
	return err
}

// startReading starts what can overlap with the pass over the worktree.
func (tx *Tx) startReading(ctx context.Context, j Job) {
	if tx.config = j.Config; tx.config == nil {
		tx.config = Async(func() (git.Config, error) { return ReadConfig(ctx, tx.Repo) })
	}
	names := []string{tx.ID.Ref(), tx.ID.NotesRef()}
	if tx.keeper = tx.Keeper(tx.ID); tx.Repo.InTables() { // where git has to be asked, once
		names = append(names, tx.keeper.Ref())
	}
	tx.refs = Async(func() (map[string]object.Hash, error) { return tx.raw().Refs(ctx, names...) })
	// HEAD has rarely moved; finding its objects takes as long as the pass.
	tx.warm = Async(func() (object.Hash, error) { return tx.Objects.TreeOf(j.Warm) })
}

// ReadConfig reads git's configuration. An error means that nothing can be
// written here.
func ReadConfig(ctx context.Context, r *git.Repo) (git.Config, error) {
	c, err := r.Config(ctx)
	if err == nil {
		err = c.Supported()
	}
	return c, err
}

// raw reads refs as they are.
func (tx *Tx) raw() *git.Repo { return tx.Repo.Watched(nil) }

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
	if _, err := tx.Config(); err != nil { // it names the hooks that must not run
		return nil, err
	}
	return tx.Repo.With(git.Holding(tx.held.File())).BeginRefs(ctx, tx.reason)
}

// Prepare starts the git that will move the refs early. Most prompts move none.
func (tx *Tx) Prepare() { tx.prepare() }

// Config returns git's configuration.
func (tx *Tx) Config() (git.Config, error) {
	tx.start()
	return tx.config()
}

// OnBranch reports whether HEAD is on the mission's branch, and whether that
// may move: not while git has an operation in progress.
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

// Look takes a snapshot and opens the mission. With publish the branch may be
// moved, or the worktree changed, afterwards.
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

// Open opens the mission, up to where the user may rely on it.
func (tx *Tx) Open(ctx context.Context) error {
	tx.start()
	var err error
	if tx.tips, err = tx.refs(); err == nil {
		err = tx.stand(ctx)
	}
	if err != nil {
		return err
	}
	tip, live := tx.tips[tx.ID.Ref()] // zero for a file without a hash, as after a power cut
	if !tx.back.IsZero() {
		tip, live = tx.back, true
	}
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

// openArchived finds a mission without a ref in the archive.
func (tx *Tx) openArchived(ctx context.Context) error {
	refs, err := tx.Repo.Refs(ctx, ledger.ArchiveRef)
	if err != nil || len(refs) == 0 {
		return err
	}
	index, err := ledger.ArchiveTip(refs)
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
		tx.kept.Branch = object.Hash{}
	}
	return err
}

// LeaveNotes leaves the notes unchanged: they may be unreadable, or untrusted.
// The ledger has all that they say.
func (tx *Tx) LeaveNotes(err error) { tx.Notes, tx.Unnoted = nil, err }

// Begin makes the ledger of a mission that has none.
func (tx *Tx) Begin(m *record.Mission) {
	m.V, m.ID = record.Version, tx.ID
	tx.Ledger = ledger.New(tx.Objects, m)
}

// Fork begins the mission as a fork of another one, whose ledger up to the fork
// is l, and inherits the trust in that. The ledger keeps the commit from. If
// the mission is not made after all, the caller forgets the trust in it.
func (tx *Tx) Fork(ctx context.Context, m *record.Mission, l *ledger.Ledger, from object.Hash) error {
	if _, err := tx.Objects.TreeOf(from); err != nil {
		return fmt.Errorf("its code commit is not here: %w", err)
	}
	err := tx.Trust.Inherit(m.ID, l.ID, l.Tip, func(a, b object.Hash) (bool, error) {
		return tx.Repo.IsAncestor(ctx, b, a)
	})
	if err != nil {
		return err
	}
	l.ID, l.Mission = m.ID, m
	tx.Ledger = l
	return tx.Append("fork of "+m.ForkedFrom.String(), nil, from)
}

// stored returns the tree of the last event's code commit, if any. The
// mission's ref keeps that commit.
func (tx *Tx) stored() object.Hash {
	tips, _ := tx.refs()
	tip, ok := tips[tx.ID.Ref()]
	if !ok {
		return object.Hash{}
	}
	parents, err := tx.Objects.Parents(tip)
	if err != nil || len(parents) < 2 {
		return object.Hash{}
	}
	tree, _ := tx.Objects.TreeOf(parents[1]) // zero if it can't be read
	return tree
}

// Append adds an event: files by path, nil to remove, and commits to keep.
func (tx *Tx) Append(subject string, files map[string][]byte, keep ...object.Hash) error {
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

func (tx *Tx) clean(files map[string][]byte) map[string][]byte {
	known := tx.Purged()
	if known.Empty() {
		return files
	}
	out := make(map[string][]byte, len(files))
	for path, content := range files {
		switch {
		case strings.HasSuffix(path, ".json"):
			out[path] = cleanRecord(known, content)
		case strings.HasSuffix(path, ".jsonl"):
			out[path] = known.ReplaceJSON(content)
		default:
			out[path] = known.Replace(content)
		}
	}
	return out
}

// Note adds a line to the note on a commit. The notes must not be nil.
func (tx *Tx) Note(on object.Hash, line []byte) error {
	return tx.Notes.Append(on, cleanRecord(tx.Purged(), line))
}

// cleanRecord takes what was purged out of a record's texts. What is purged may
// be any word, so names of members, numbers, hashes and words of the format
// stay, as in [gitagent/internal/purgerewrite]: without them nobody could read it.
func cleanRecord(known *scrub.Finder, content []byte) []byte {
	var of struct {
		Kind string `json:"kind"`
	}
	if json.Unmarshal(content, &of) != nil {
		return known.ReplaceJSON(content)
	}
	return known.ReplaceRecord(content, func(t scrub.Token, text []byte) bool {
		switch t.Kind {
		case '0':
			return true
		case 'n':
			return !strings.ContainsFunc(t.Key(), func(r rune) bool { return (r < 'a' || r > 'z') && r != '_' })
		}
		rule := record.PurgeRuleOf(of.Kind, t.Name())
		_, err := object.ParseHash(strings.Trim(string(text), `"`))
		return rule.Is(record.Formal) || rule.Is(record.Hash) && err == nil
	})
}

// CommitTree stages a commit with the user's identity.
func (tx *Tx) CommitTree(tree object.Hash, parents []object.Hash, message string) (object.Hash, error) {
	config, err := tx.Config()
	if err != nil {
		return object.Hash{}, err
	}
	message = string(tx.Purged().Replace([]byte(message)))
	return tx.Objects.CommitTree(tree, parents, config.Author(tx.At), config.Committer(tx.At), message)
}

// Head returns the snapshot's HEAD or, if unborn, a new empty root commit.
func (tx *Tx) Head(message string) (object.Hash, error) {
	if head := tx.Snap.Head.Commit; !head.IsZero() {
		return head, nil
	}
	tree, err := tx.Objects.EmptyTree()
	if err != nil {
		return object.Hash{}, err
	}
	return tx.CommitTree(tree, nil, message)
}

// MoveBranch makes Commit move the checked-out branch of the mission, with the
// index, to a commit with the snapshot's tree.
func (tx *Tx) MoveBranch(to object.Hash) { tx.branch = to }

// HeadNow returns HEAD's commit after Commit.
func (tx *Tx) HeadNow() object.Hash {
	if !tx.branch.IsZero() && tx.Stayed == nil {
		return tx.branch
	}
	return tx.Snap.Head.Commit
}

// Move makes Commit move another ref, too; the zero hash stands for no ref.
func (tx *Tx) Move(ref string, to, from object.Hash) {
	tx.moves = append(tx.moves, git.Update{Ref: ref, New: to, Old: from})
}

// Commit writes all objects, then moves all refs. The error wraps
// [git.ErrConflict] if one has moved. If only the branch stays, see Stayed.
func (tx *Tx) Commit(ctx context.Context) error {
	tx.start()
	updates, err := tx.updates()
	if err == nil && tx.grown {
		var keep []git.Update
		keep, err = tx.keep(ctx)
		updates = append(updates, keep...)
	}
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
	if tx.grown && !tx.keeper.Together() {
		if err := tx.keeper.Move(ctx, tx.held, tx.keeping); err != nil {
			tx.Say(err.Error(), "") // it is recorded all the same
		}
	}
	err = tx.commit(ctx, updates)
	if errors.Is(err, git.ErrHalf) && tx.grown {
		if now, e := tx.raw().Refs(ctx, tx.ID.Ref()); e == nil && now[tx.ID.Ref()] == tx.Ledger.Tip { // the event is there
			tx.Say(err.Error(), "")
			err = nil
		}
	}
	if err != nil && tx.grown {
		err = errors.Join(err, tx.Trust.Leave(tx.ID, tx.left, tx.Repo.Format()))
	}
	if err == nil && tx.told != nil {
		tx.told()
	}
	if err == nil && tx.grown {
		if e := git.Join(ctx, tx.Repo); e != nil {
			tx.Store.Log(time.Now(), e.Error())
		}
	}
	if err == nil && tx.grown && !tx.pointed {
		if e := tx.keeper.Point(ctx, tx.held, tx.keeping); e != nil {
			tx.Say(e.Error(), "")
		}
	}
	return err
}

func (tx *Tx) commit(ctx context.Context, updates []git.Update) error {
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
			err := git.MoveRefs(ctx, tx.Repo, tx.held, proc, append(updates, branch))
			if err == nil || errors.Is(err, git.ErrConflict) || len(updates) == 0 {
				return err
			}
			tx.Stayed = err
			if proc, err = tx.beginRefs(ctx); err != nil {
				return err
			}
		}
	}
	return git.MoveRefs(ctx, tx.Repo, tx.held, proc, updates)
}

// updates returns the moves of all refs but the mission's branch.
func (tx *Tx) updates() ([]git.Update, error) {
	updates := tx.moves
	move := func(ref string, to object.Hash) {
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
	if !tx.kept.Branch.IsZero() { // an archived mission goes on: it gets its refs back
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
	tx.noted = tx.tips[tx.ID.NotesRef()].IsZero() && !notes.IsZero() && tx.Ledger != nil && tx.Ledger.Mission.Branch != ""
	move(tx.ID.NotesRef(), notes)
	return updates, nil
}

// Async runs f in the background; the result waits for it. A panic becomes an
// error, as status 2 would make a client continue the turn.
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
