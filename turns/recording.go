package turns

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"gitagent/gitnotes"
	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/session"
	"gitagent/internal/snapshot"
)

// A recording is one attempt to take one signal.
type recording struct {
	*Recorder
	Signal
	store session.Store
	state *session.State

	id       ledger.ID
	onBranch bool // HEAD is on the mission's branch
	moves    bool // and the branch moves with the turn
	running  bool // the turn that a prompt event names has begun before, unannounced
	stay     bool // the branch has to stay where it is: an earlier attempt could not move it

	config  func() (git.Config, error)
	objects *git.Objects
	refs    func() (map[string]plumbing.Hash, error)
	segment func() (flushed, error)
	warm    func() (plumbing.Hash, error)
	moving  func() (*git.RefTransaction, error)

	snap   *snapshot.Snapshot
	ledger *ledger.Ledger
	notes  *gitnotes.Notes
	tips   map[string]plumbing.Hash // the refs as the recording found them
	branch plumbing.Hash            // where the mission's branch moves to; zero if it stays
	result Result
}

// async runs f in the background; the function that it returns waits for the result.
// A panic of f is its error: it would end the process with status 2, which tells a client to go on with the turn.
func async[T any](f func() (T, error)) func() (T, error) {
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

// run takes the signal. An error wrapping [git.ErrConflict] asks for another attempt;
// nothing has happened then.
func (r *recording) run(ctx context.Context) (*Result, error) {
	if r.Event == Prompted && r.promptKnown() {
		return &r.result, nil
	}
	if err := r.chooseMission(ctx); err != nil {
		return nil, err
	}
	r.result.Mission = r.id
	r.begin(ctx)
	defer r.end()
	defer func() { r.result.Config, _ = r.config() }() // whom an error of it concerns has asked
	if r.repeated() {
		return &r.result, nil
	}
	if r.Event == Ended && r.state.Open == nil && r.state.Last != nil {
		if f, err := r.segment(); err != nil || !r.unannounced(f) {
			return &r.result, err
		}
	}
	if err := r.look(ctx); err != nil {
		return nil, err
	}
	adopted, err := r.catchUp()
	if err != nil {
		return nil, err
	}
	if adopted {
		r.segment = async(func() (flushed, error) { return r.flush(ctx) }) // the cursor has changed
	}
	if r.Event == Ended && r.state.Open == nil {
		if f, err := r.segment(); err != nil || !r.unannounced(f) {
			return &r.result, err
		}
	}
	switch r.Event {
	case Prompted:
		err = r.prompted(ctx)
	default:
		err = r.ended(ctx)
	}
	if err != nil {
		return nil, err
	}
	if err := r.commit(ctx); err != nil {
		return nil, err
	}
	if r.onBranch && !r.moves && r.Repo.Operation() == "" {
		r.warn("the branch of mission %s was left where it is: the index or the branch is locked; the next turn catches up", r.id)
	}
	r.state.Mission = string(r.id)
	r.state.Worktree, r.state.Seen = r.Repo.GitDir, r.At
	if r.Event != Ended {
		r.state.Ended, r.state.HandedOff = false, false // it was resumed
	}
	if r.Agent != "" {
		r.state.Agent = r.Agent
	}
	if r.Client.PID != 0 {
		r.state.Client = r.Client
	}
	return &r.result, r.store.Save(r.state)
}

// promptKnown reports whether a prompt belongs to a turn that was seen already: the event arrived twice,
// or the prompt was typed while the turn ran and waits in the client's queue.
// Then it has the running turn's id and will not be announced again.
func (r *recording) promptKnown() bool {
	if r.PromptID == "" {
		return false
	}
	return r.state.Open != nil && r.state.Open.PromptID == r.PromptID ||
		r.state.Last != nil && r.state.Last.PromptID == r.PromptID
}

// repeated reports whether the event is the one that recorded the last turn, arriving a second time.
// If the agent has said something since, it is another one that looks the same, unless
// the next turn runs already: then the agent speaks in that.
func (r *recording) repeated() bool {
	if r.Event == Prompted || r.state.Last == nil || r.PromptID == "" || r.state.Last.Key != r.key() {
		return false
	}
	if r.state.Open != nil {
		return r.state.Open.PromptID != r.PromptID
	}
	return !r.spokeSince()
}

// begin starts whatever can overlap with the pass over the worktree.
func (r *recording) begin(ctx context.Context) {
	r.config = async(func() (git.Config, error) {
		c, err := r.Repo.Config(ctx)
		if err == nil && c.SHA256() {
			err = errors.New("the repository's object format is SHA-256, which git-agent can't write yet")
		}
		return c, err
	})
	r.refs = async(func() (map[string]plumbing.Hash, error) { return r.Repo.Refs(ctx, r.id.Ref(), r.id.NotesRef()) })
	r.moving = async(func() (*git.RefTransaction, error) {
		return r.Repo.BeginRefs(ctx, fmt.Sprintf("agent mission %s: %s", r.id, r.Event))
	})
	r.objects = r.Repo.Objects(ctx)
	r.segment = async(func() (flushed, error) { return r.flush(ctx) })
	// Most likely HEAD is where it was; finding its objects takes as long as the pass over the worktree.
	head := r.headBefore()
	r.warm = async(func() (plumbing.Hash, error) { return r.objects.TreeOf(head) })
}

// headBefore is HEAD as the session's last event found it.
func (r *recording) headBefore() plumbing.Hash {
	switch {
	case r.state.Open != nil:
		return r.state.Open.Head.Hash()
	case r.state.Last != nil:
		return r.state.Last.Head.Hash()
	}
	return plumbing.ZeroHash
}

// end ends what was begun and not used.
func (r *recording) end() {
	if t, err := r.moving(); err == nil {
		t.Abort()
	}
	_, _ = r.warm()
	r.objects.Close()
}

// look takes the snapshot and opens the mission.
func (r *recording) look(ctx context.Context) error {
	var err error
	r.snap, err = snapshot.Take(ctx, r.Repo, r.objects, snapshot.Options{
		Policy: r.policy(), Config: r.config, Stored: r.stored, Publish: r.moves, Now: r.At,
	})
	if err != nil {
		return err
	}
	if r.moves && r.snap.Head.Branch != r.id.Branch(r.Capture.BranchPrefix) {
		return fmt.Errorf("HEAD moved to another branch: %w", git.ErrConflict)
	}
	if r.tips, err = r.refs(); err != nil {
		return err
	}
	if tip, ok := r.tips[r.id.Ref()]; ok {
		r.ledger, err = ledger.At(r.objects, r.id, tip)
	} else {
		r.ledger, err = r.newLedger()
	}
	if err != nil {
		return err
	}
	r.notes, err = gitnotes.Open(r.objects, r.tips[r.id.NotesRef()])
	return err
}

// stored is the tree of the mission's newest code commit, zero if its last event has none. The mission's ref keeps it.
func (r *recording) stored() plumbing.Hash {
	tips, err := r.refs()
	if err != nil || tips[r.id.Ref()].IsZero() {
		return plumbing.ZeroHash
	}
	event, err := object.GetCommit(r.objects, tips[r.id.Ref()])
	if err != nil || len(event.ParentHashes) < 2 {
		return plumbing.ZeroHash
	}
	tree, err := r.objects.TreeOf(event.ParentHashes[1])
	if err != nil {
		return plumbing.ZeroHash
	}
	return tree
}

// newLedger is the ledger of a mission that begins with this signal.
func (r *recording) newLedger() (*ledger.Ledger, error) {
	m := &ledger.Mission{
		V: ledger.Version, ID: r.id, Created: r.At.UTC(), Agent: r.Agent,
		Base: git.Hex(r.snap.Head.Commit).String(), Predecessor: r.predecessor(),
	}
	if r.onBranch {
		m.Branch = r.id.Branch(r.Capture.BranchPrefix)
	}
	return ledger.New(r.objects, m), nil
}

// predecessor is the mission of the session that the same client process held before
// this one: a /clear in a passive checkout begins a new mission.
func (r *recording) predecessor() ledger.ID {
	if r.Client.PID == 0 {
		return ""
	}
	var last *session.State
	for _, st := range r.store.All() {
		if st.Session != r.Session && st.Client == r.Client && st.Mission != "" && (last == nil || st.Seen.After(last.Seen)) {
			last = st
		}
	}
	if last == nil || last.Mission == string(r.id) {
		return ""
	}
	return ledger.ID(last.Mission)
}

// commit writes all objects, then moves all refs.
func (r *recording) commit(ctx context.Context) error {
	config, err := r.config()
	if err != nil {
		return err
	}
	var updates []git.Update
	move := func(ref string, to plumbing.Hash) {
		if from := r.tips[ref]; from != to {
			updates = append(updates, git.Update{Ref: ref, New: to, Old: from})
		}
	}
	move(r.id.Ref(), r.ledger.Tip)
	notes, err := r.notes.Commit(config.Author(r.At), config.Committer(r.At), fmt.Sprintf("mission %s", r.id))
	if err != nil {
		return err
	}
	move(r.id.NotesRef(), notes)
	if len(updates) == 0 && r.branch.IsZero() {
		return nil
	}
	if err := r.objects.Flush(); err != nil {
		return err
	}
	if !r.branch.IsZero() {
		updates = append(updates, git.Update{Ref: r.id.Branch(r.Capture.BranchPrefix), New: r.branch, Old: r.snap.Head.Commit})
	}
	tx, err := r.moving()
	if err != nil {
		return err
	}
	err = tx.Commit(ctx, updates)
	if err == nil || errors.Is(err, git.ErrConflict) {
		return err
	}
	locked, waitErr := r.Repo.AwaitLocks(ctx, r.id.Ref(), r.id.NotesRef())
	if waitErr != nil {
		return errors.Join(err, waitErr)
	}
	if locked {
		return fmt.Errorf("the mission's refs were locked: %w", git.ErrConflict)
	}
	if !r.branch.IsZero() {
		return fmt.Errorf("%w: %w", errBranch, err)
	}
	return err
}

// errBranch reports that the refs did not move, perhaps because of the branch: somebody holds its lock.
var errBranch = errors.New("the mission's branch can't be moved")

// worktree names the worktree within the repository: ".git" for the main one.
func (r *Recorder) worktree() string { return filepath.Base(r.Repo.GitDir) }

func (r *recording) warn(format string, args ...any) {
	r.result.Warnings = append(r.result.Warnings, fmt.Sprintf(format, args...))
}
