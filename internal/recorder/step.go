package recorder

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"time"

	"gitagent/hooks"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/journal"
	"gitagent/internal/limit"
	"gitagent/internal/snapshot"
	"gitagent/internal/workspace"
)

// Bounds of a step, so that it costs neither the client's time nor the disk.
const (
	maxSteps    = 100     // new states of a turn; then there are only claims
	maxBytes    = 8 << 20 // that they add, before compression
	maxChanged  = 1000    // paths that are compared
	maxNamed    = 64      // paths that commands name
	maxWords    = 256     // that may be such paths
	restOfLooks = 20      // times what a look at the worktree took, none follows
)

// A Batch is what a client reports when tools have run.
type Batch struct {
	Session, PromptID string
	Agent             string // the sub-agent's id; "" for the session's own calls
	Cwd               string // the agent's directory
	Calls             []hooks.Call
	// Began returns when the calls began, zero if that is unknown. It is called
	// only if they may have written something.
	Began func() time.Time
}

// Step adds to the worktree's journal what a batch of calls may have done, and
// the state that they left, unless they wrote nothing in it for sure. If
// another process has the worktree, it adds only the claim. open is called if
// it is needed.
//
// After tools that edit files the state is the last one with these files as
// they are now; see [snapshot.Edit]. After all else the whole worktree is
// looked at, with pauses: then the claim is without a state.
func Step(ctx context.Context, repo *git.Repo, open func() *workspace.Workspace, b Batch) error {
	t := touchedBy(repo, b)
	if len(t.calls) == 0 {
		return nil
	}
	return atWorktree(ctx, repo, open, func(s *stepper, alone bool) error {
		s.touched = t
		return s.keep(ctx, b, alone)
	})
}

// StepBefore adds the state that a call may be about to destroy, with what a
// person or another session has unsaved there, if it is news. There is no pause
// after a look, nor because of it.
func StepBefore(ctx context.Context, repo *git.Repo, open func() *workspace.Workspace, b Batch) error {
	return atWorktree(ctx, repo, open, func(s *stepper, alone bool) error {
		if !alone {
			return nil
		}
		return s.keepBefore(ctx, b)
	})
}

// atWorktree does something with the worktree locked. It is not alone if another
// process has it.
func atWorktree(ctx context.Context, repo *git.Repo, open func() *workspace.Workspace, do func(s *stepper, alone bool) error) error {
	w := open()
	waiting, cancel := limit.Within(ctx, limit.Of(ctx).Step)
	defer cancel()
	held, err := w.Store.LockWorktree(waiting, repo.GitDir)
	alone := err == nil
	if alone {
		defer held.Release()
		err = git.DropLeft(ctx, held)
	} else if waiting.Err() != nil {
		err = nil
	}
	if err == nil {
		s := &stepper{Workspace: w, objects: w.Repo.Objects(ctx)}
		defer s.objects.Close()
		err = do(s, alone)
	}
	if err != nil {
		return fmt.Errorf("keep a step: %w", err)
	}
	return nil
}

// A touched is what calls may have written.
type touched struct {
	calls []journal.Call
	edits []string // the files that they wrote; nil if they may have written any
	names []string // that commands name, absolute
	git   bool
	open  bool // a call goes on
}

// touchedBy returns what a batch may have written in the worktree; there are no
// calls if it is nothing.
func touchedBy(repo *git.Repo, b Batch) (t touched) {
	var edits []string
	whole := false
	for _, call := range b.Calls {
		switch call.Effect {
		case hooks.Reads:
			continue
		case hooks.Edits:
			for _, name := range call.Paths {
				if path, ok := snapshot.Inside(repo, absolute(b.Cwd, name)); ok {
					t.calls = append(t.calls, journal.Call{ID: call.ID, Tool: call.Tool, Path: path})
					edits = append(edits, path)
				}
			}
			continue
		}
		d := deedOf(call.Command)
		if d.idle && !call.Cut {
			continue
		}
		whole = true
		t.calls = append(t.calls, journal.Call{ID: call.ID, Tool: call.Tool})
		t.git, t.open = t.git || d.git, t.open || call.Background || d.aside
		for _, name := range d.names {
			t.names = append(t.names, absolute(b.Cwd, name))
		}
	}
	if !whole {
		t.edits = edits
	}
	return t
}

func absolute(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, filepath.FromSlash(name))
}

// A stepper keeps the state after one batch.
type stepper struct {
	*workspace.Workspace
	touched
	objects *git.Objects
	entry   *journal.Entry

	last   *journal.Entry // with a state
	kept   *journal.Entry // the last state that a turn keeps
	looked *journal.Entry // the last look at the whole worktree
}

func (s *stepper) keep(ctx context.Context, b Batch, alone bool) error {
	at := time.Now()
	s.entry = &journal.Entry{
		At: at.UnixMilli(), Session: b.Session, PromptID: b.PromptID, Agent: b.Agent,
		Calls: s.calls, Git: s.git, Open: s.open,
	}
	if err := s.read(ctx); err != nil {
		return err
	}
	if b.Began != nil {
		if began := b.Began(); !began.IsZero() {
			s.entry.From = began.UnixMilli()
		}
	}
	if s.entry.From > s.entry.At {
		s.entry.From = 0
	}
	if !alone {
		s.entry.Named = s.named()
		return journal.Claim(s.Repo, s.entry)
	}
	err := s.look(ctx, at)
	s.entry.Took = took(time.Since(at))
	s.entry.Named = s.named()
	return cmp.Or(err, journal.Append(s.Repo, s.entry))
}

func (s *stepper) keepBefore(ctx context.Context, b Batch) error {
	at := time.Now()
	s.entry = &journal.Entry{At: at.UnixMilli(), Session: b.Session, PromptID: b.PromptID, Agent: b.Agent, Before: true}
	if err := s.read(ctx); err != nil {
		return err
	}
	s.entry.From, s.looked = 0, nil
	if err := s.look(ctx, at); err != nil {
		return err
	}
	s.entry.Cost, s.entry.Took = 0, took(time.Since(at))
	if s.entry.Tree.IsZero() || s.last != nil && s.entry.Tree == s.last.Tree {
		return nil
	}
	return journal.Append(s.Repo, s.entry)
}

// read finds the entries that the step goes on from. Until the client says
// better, its calls began when the agent's last ones had ended.
func (s *stepper) read(ctx context.Context) error {
	entries, err := journal.Newest(s.Repo)
	if err != nil {
		return err
	}
	mine, since := false, false
	for e := range entries {
		if s.last == nil && !e.Tree.IsZero() {
			s.last = e
		}
		if s.kept == nil && !e.Tree.IsZero() && e.Event != "" {
			s.kept = e
		}
		if s.looked == nil && e.Cost > 0 {
			s.looked = e
		}
		if e.Session == s.entry.Session {
			if !mine && e.Event == "" && e.PromptID == s.entry.PromptID {
				s.entry.Steps, s.entry.Bytes = e.Steps, e.Bytes
			}
			mine = true
			if !since && !e.Before && (e.Agent == s.entry.Agent || e.Event != "") {
				s.entry.From, since = e.At, true
			}
		}
		old := e.At < s.entry.At-restOfLooks*limit.Of(ctx).Look.Milliseconds()
		if since && s.last != nil && s.kept != nil && (s.looked != nil || old) {
			break
		}
	}
	return nil
}

// look adds the state to the entry, if that is due.
func (s *stepper) look(ctx context.Context, at time.Time) error {
	if s.entry.Steps >= maxSteps || s.entry.Bytes >= maxBytes {
		return nil
	}
	tree, ok, err := s.byPaths(ctx)
	if err == nil && !ok {
		if s.looked != nil && s.entry.At >= s.looked.At && s.entry.At-s.looked.At < restOfLooks*s.looked.Cost { // the clock may have been set
			return nil
		}
		tree, err = s.byStatus(ctx, at)
	}
	if err != nil || tree.IsZero() {
		return err
	}
	if s.last != nil && tree == s.last.Tree {
		s.entry.Tree = tree
		return nil
	}
	size := s.objects.Spare()
	if s.entry.Bytes+size > maxBytes {
		return nil
	}
	if err := s.objects.FlushLoose(); err != nil {
		return err
	}
	s.entry.Tree = tree
	s.entry.Steps++
	s.entry.Bytes += size
	if s.last != nil {
		s.entry.Ctimes = ctimes(s.Repo, s.objects, s.last.Tree, tree)
	}
	return nil
}

// byPaths returns the last state with the files that were edited. ok is false if
// it can't be had so.
func (s *stepper) byPaths(ctx context.Context) (tree object.Hash, ok bool, err error) {
	if s.edits == nil || s.last == nil || !s.last.Plain || !s.complete() {
		return tree, false, nil
	}
	tree, ok, err = snapshot.Edit(ctx, s.Repo, s.objects, s.Policy(), s.last.Head, s.last.Tree, s.edits)
	s.entry.Plain, s.entry.Head = ok, s.last.Head
	return tree, ok, err
}

// complete reports whether all of the last state is in the database. Nothing
// keeps what it does not share with the state of a turn, or of HEAD: a git gc
// may have removed that.
func (s *stepper) complete() bool {
	var kept object.Hash
	var err error
	if s.kept != nil {
		kept = s.kept.Tree
	} else {
		kept, err = s.objects.TreeOf(s.last.Head)
	}
	if err != nil {
		return false
	}
	since, whole, err := gitdiff.Differences(s.objects, kept, []object.Hash{s.last.Tree}, maxChanged)
	if err != nil || !whole {
		return false
	}
	return !slices.ContainsFunc(since, func(d gitdiff.Difference) bool {
		return !d.New.Hash.IsZero() && !s.objects.Stored(d.New.Hash) && s.objects.Has(d.New.Hash) != nil
	})
}

// byStatus looks at the whole worktree; the tree is zero if that takes too long.
func (s *stepper) byStatus(ctx context.Context, at time.Time) (object.Hash, error) {
	looking, cancel := limit.Within(ctx, limit.Of(ctx).Look)
	defer cancel()
	plain := s.last != nil && s.last.Plain
	snap, err := snapshot.Take(looking, s.Repo, s.objects, snapshot.Options{Policy: s.Policy(), Config: func() (git.Config, error) {
		if plain { // nothing that matters here was set when it was read
			return git.Config{}, nil
		}
		return s.Repo.Config(looking)
	}})
	s.entry.Cost = max(1, time.Since(at).Milliseconds())
	if looking.Err() != nil && ctx.Err() == nil {
		return object.Hash{}, nil
	}
	if err != nil {
		return object.Hash{}, err
	}
	s.entry.Head, s.entry.Plain = snap.Head.Commit, snap.Plain
	return snap.Tree, nil
}

// named returns the paths that commands name, which are or were there.
func (s *stepper) named() (paths []string) {
	for _, name := range s.names[:min(len(s.names), maxWords)] {
		if len(paths) == maxNamed {
			break
		}
		path, ok := snapshot.Inside(s.Repo, name)
		if !ok || slices.Contains(paths, path) {
			continue
		}
		_, err := os.Lstat(filepath.Join(s.Repo.Top, filepath.FromSlash(path)))
		if err != nil && s.last != nil {
			var old object.Entry
			if old, err = s.objects.Lookup(s.last.Tree, path); err == nil && old.Hash.IsZero() {
				continue
			}
		}
		if err == nil {
			paths = append(paths, path)
		}
	}
	return paths
}

// ctimes returns those of the files that differ between two trees, 0 for one that
// is gone.
func ctimes(repo *git.Repo, objects *git.Objects, from, to object.Hash) map[string]int64 {
	changed, whole, err := gitdiff.Differences(objects, from, []object.Hash{to}, maxChanged)
	if err != nil || !whole { // the one before may be gone
		return nil
	}
	found := make(map[string]int64)
	for _, d := range changed {
		found[d.Path] = ctime(repo, d.Path)
	}
	return found
}

// ctime is when a file of the worktree was changed, in ms; 0 if unknown, or if it
// is not there.
func ctime(repo *git.Repo, path string) int64 {
	info, err := os.Lstat(filepath.Join(repo.Top, filepath.FromSlash(path)))
	if err != nil || info.IsDir() {
		return 0
	}
	at, _ := journal.Ctime(info)
	return at
}

// observe adds to the worktree's journal the state with which a turn has begun,
// [journal.Prompt], or ended, [journal.Stop]. The turn must be recorded, and the
// worktree still be locked. Without the journal nothing is lost but who did
// what, so an error is only a warning.
func (r *recording) observe(event string) {
	snap := r.tx.Snap
	if snap == nil || r.tx.Objects.Staged(snap.Tree) { // it belongs to no turn
		return
	}
	e := &journal.Entry{
		At: r.seenAt(), Took: took(snap.Took), Event: event, Session: r.who(), PromptID: r.PromptID,
		Tree: snap.Tree, Head: r.tx.HeadNow(), Plain: snap.Plain,
	}
	last, err := r.lastState()
	if !r.began.IsZero() { // what calls have done since is not there yet
		e.At, e.Took, e.Tree, e.Head = r.Began.UnixMilli(), 0, r.began, r.startHead
		if r.hasLater(e.At) { // nor is it gone again, and calls without a state have left what is in none
			e.Base, e.Tree = e.Tree, object.Hash{}
		}
	}
	if err == nil && last != nil && last.Tree != e.Tree && e.Base.IsZero() {
		e.Ctimes = ctimes(r.Repo, r.tx.Objects, last.Tree, e.Tree)
	}
	if news := event == journal.Prompt || last == nil || last.Tree != e.Tree; err == nil && news {
		err = journal.Append(r.Repo, e)
	}
	if err != nil {
		r.warn("the state of the worktree is not in its journal: %v", err)
	}
}

// hasLater reports whether the journal's last entry is not earlier than a time, in ms.
func (r *recording) hasLater(at int64) bool {
	entries, err := journal.Newest(r.Repo)
	if err != nil {
		return false
	}
	return anyLater(entries, at)
}

// anyLater reports whether the newest entry is not earlier than a time, in ms,
// but for those that were added with the time of an earlier state.
func anyLater(newest iter.Seq[*journal.Entry], at int64) bool {
	for e := range newest {
		if e.Base.IsZero() {
			return e.At >= at
		}
	}
	return false
}

// took is a duration in ms, no less than it was, as an entry has it.
func took(d time.Duration) int64 { return d.Milliseconds() + 1 }

// who is the session, as the journal and claims name it.
func (r *recording) who() string { return cmp.Or(r.Session, byHand(r.Workspace)) }

// seenAt is when the worktree was looked at, in ms: not before the event, if the
// clocks differ.
func (r *recording) seenAt() int64 { return max(r.At.UnixMilli(), r.tx.Snap.At.UnixMilli()) }

// lastState returns the journal's last state, or nil.
func (r *recording) lastState() (*journal.Entry, error) {
	if r.during != nil && r.during.Last != nil {
		return r.during.Last, nil
	}
	entries, err := journal.Newest(r.Repo)
	if err != nil {
		return nil, err
	}
	for e := range entries {
		if !e.Tree.IsZero() {
			return e, nil
		}
	}
	return nil, nil
}
