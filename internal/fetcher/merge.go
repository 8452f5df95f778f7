package fetcher

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gitagent/gitnotes"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/remote"
)

// A Change is what a fetch did to one mission of this repository.
type Change struct {
	Mission record.ID
	Kind    Kind
	Of      record.ID // for Side, the mission that diverged
	// Foreign is true if any of it was recorded by an untrusted key.
	Foreign bool
	// Branch says why the branch was left alone and what to do, see stays; ""
	// if there is nothing to do.
	Branch string
}

// A Kind is a kind of [Change].
type Kind string

// The kinds.
const (
	New      Kind = "new"     // it was not here
	Forward  Kind = "forward" // the remote had more turns
	Notes    Kind = "notes"   // the remote had more notes on its turns
	Diverged Kind = "side"    // it is the other chain of a mission that diverged
	Stayed   Kind = "stayed"  // only the branch differs, and it can't be moved
	Purged   Kind = "purged"  // it was purged elsewhere, and what was purged is gone here
)

// maxNested bounds chains that diverged from diverged chains: names may
// collide.
const maxNested = 16

// A merger collects new values of refs from what has arrived, to move together.
type merger struct {
	*fetch
	objects  *git.Objects
	archive  *ledger.Archive        // ours
	before   map[string]object.Hash // the refs as they are
	now      map[string]object.Hash // the refs as they will be
	named    []record.ID            // missions that were asked for
	checked  map[string]string      // checked-out branches, and where
	changes  []Change
	problems []error
}

// merge merges what has arrived in one transaction. If another process moves
// one of the refs meanwhile, everything is decided again.
func (f *fetch) merge(ctx context.Context, arrived map[record.ID]remote.Tips, named []record.ID) ([]Change, error) {
	var m *merger
	err := git.Retry(git.ErrConflict, func() error {
		m = &merger{fetch: f, named: named}
		return m.run(ctx, arrived)
	})
	if err != nil {
		return nil, err
	}
	return m.changes, errors.Join(m.problems...)
}

func (m *merger) run(ctx context.Context, arrived map[record.ID]remote.Tips) error {
	m.objects = m.Repo.Objects(ctx)
	defer m.objects.Close()
	var err error
	if m.before, err = m.Local(ctx, ""); err != nil {
		return err
	}
	if m.checked, err = checkedOut(ctx, m.Repo); err != nil {
		return err
	}
	if m.archive, err = archive(ctx, m.Repo, m.objects); err != nil {
		return err
	}
	m.now = maps.Clone(m.before)
	for _, id := range slices.Sorted(maps.Keys(arrived)) {
		if theirs := arrived[id]; !theirs.Ledger.IsZero() {
			if err := m.mission(ctx, id, theirs, 0); err != nil {
				m.problems = append(m.problems, fmt.Errorf("mission %s: %w", id, err))
			}
		}
	}
	if err := m.objects.Flush(); err != nil {
		return err
	}
	err = m.settle(ctx)
	if err != nil && !errors.Is(err, git.ErrConflict) && m.leaveBranches() {
		m.problems = append(m.problems, err) // perhaps a user's branch, or its lock, is in the way of ours
		err = m.settle(ctx)
	}
	if err != nil {
		return err
	}
	return m.clear(ctx)
}

func (m *merger) settle(ctx context.Context) error {
	var updates []git.Update
	for ref, hash := range m.now {
		if m.before[ref] != hash {
			updates = append(updates, git.Update{Ref: ref, New: hash, Old: m.before[ref]})
		}
	}
	return m.move(ctx, updates)
}

func (m *merger) leaveBranches() bool {
	left := false
	for ref, hash := range m.now {
		if m.before[ref] != hash && strings.HasPrefix(ref, "refs/heads/") {
			left = true
			if delete(m.now, ref); !m.before[ref].IsZero() {
				m.now[ref] = m.before[ref]
			}
		}
	}
	return left
}

// move moves our refs. If a killed git left its lock on one of them, the lock
// is removed and the error wraps [git.ErrConflict].
func (f *fetch) move(ctx context.Context, updates []git.Update) error {
	if len(updates) == 0 {
		return nil
	}
	proc, err := f.Repo.With(git.Holding(f.held.File())).BeginRefs(ctx, "fetched from "+f.Name)
	if err != nil {
		return err
	}
	return git.MoveRefs(ctx, f.Repo, f.held, proc, updates)
}

func (m *merger) mission(ctx context.Context, id record.ID, theirs remote.Tips, nested int) error {
	ours, kind := m.tip(id), Kind("")
	live := !m.now[id.Ref()].IsZero()
	switch {
	case ours.IsZero():
		l, err := ledger.At(m.objects, id, theirs.Ledger)
		if err != nil {
			return err
		}
		// The remote may have our diverged chain, under its name there.
		here, err := m.Contains(ctx, m.tip(l.Mission.Began), theirs.Ledger)
		if err != nil || here && l.Mission.Began != id {
			return err
		}
		kind = New
		if nested > 0 {
			kind = Diverged
		}
	case ours != theirs.Ledger:
		more, err := m.Contains(ctx, theirs.Ledger, ours)
		if err != nil {
			return err
		}
		less, err := m.Contains(ctx, ours, theirs.Ledger)
		if err != nil {
			return err
		}
		switch {
		case more:
			if _, err := ledger.At(m.objects, id, theirs.Ledger); err != nil {
				return err
			}
			usable, err := m.usable(ctx, id, ours, theirs.Ledger)
			if err != nil {
				return err
			}
			if usable != theirs.Ledger {
				return m.foreign(ctx, id, ours, usable, theirs, nested)
			}
			kind = Forward
		case !less:
			return m.other(ctx, id, ours, theirs, nested)
		case !live:
			return nil // what is archived has more
		}
	}
	if !live && kind != Diverged {
		kind = New
	}
	if kind != "" {
		m.now[id.Ref()] = theirs.Ledger
	}
	merged, err := m.unite(m.now[id.NotesRef()], theirs.Notes)
	if err != nil {
		return err
	}
	if merged != m.now[id.NotesRef()] {
		m.now[id.NotesRef()] = merged
		if kind == "" {
			kind = Notes
		}
	}
	advice, err := m.branch(ctx, id, theirs.Branch)
	if err != nil {
		return err
	}
	if kind == "" && advice != "" {
		kind = Stayed
	}
	if kind == "" {
		return nil
	}
	change := Change{Mission: id, Kind: kind, Branch: advice}
	if kind != Notes && kind != Stayed {
		standing, err := m.Workspace.TrustLevel(ctx, m.objects, id, m.now[id.Ref()])
		if err != nil {
			return err
		}
		change.Foreign = !standing.Whole
	}
	m.changes = append(m.changes, change)
	return nil
}

// usable returns how far a mission may go forward: never from what the user may
// rely on to what they may not. One that is untrusted already goes along.
func (m *merger) usable(ctx context.Context, id record.ID, ours, theirs object.Hash) (object.Hash, error) {
	s, err := m.Workspace.TrustLevel(ctx, m.objects, id, theirs)
	if err != nil || s.Whole {
		return theirs, err
	}
	here, err := m.Workspace.TrustLevel(ctx, m.objects, id, ours)
	if err != nil || !here.Whole {
		return theirs, err
	}
	more, err := m.Contains(ctx, s.Commit, ours)
	if err != nil || more && !s.Commit.IsZero() {
		return s.Commit, err
	}
	return ours, nil
}

// tip returns the ledger of a mission, also of an archived one, whose turns keep
// their names; zero if there is none, or the archive can't be read.
func (m *merger) tip(id record.ID) object.Hash {
	if live := m.now[id.Ref()]; !live.IsZero() {
		return live
	}
	e, ok, _ := m.archive.Find(id)
	if !ok || m.objects.Has(e.Ledger) != nil {
		return object.Hash{}
	}
	return e.Ledger
}

// foreign moves a mission forward to usable, and keeps the rest as another one.
func (m *merger) foreign(ctx context.Context, id record.ID, ours, usable object.Hash, theirs remote.Tips, nested int) error {
	if usable != ours {
		m.now[id.Ref()] = usable
		m.changes = append(m.changes, Change{Mission: id, Kind: Forward})
		ours = usable
	}
	return m.other(ctx, id, ours, theirs, nested)
}

// other keeps the remote's chain of a mission that diverged from ours as
// another mission.
func (m *merger) other(ctx context.Context, id record.ID, ours object.Hash, theirs remote.Tips, nested int) error {
	if nested == maxNested {
		return fmt.Errorf("it has more than %d sides", maxNested)
	}
	first, err := ledger.Diverged(ctx, m.Repo, theirs.Ledger, ours)
	if err != nil {
		return err
	}
	name := record.OfCommit(first)
	if m.now[name.Ref()].IsZero() {
		if err := m.inherit(ctx, name, id, first); err != nil {
			return err
		}
	}
	n := len(m.changes)
	if err := m.mission(ctx, name, theirs, nested+1); err != nil {
		return err
	}
	for i := range m.changes[n:] {
		if c := &m.changes[n+i]; c.Of == "" {
			c.Of = id
		}
	}
	return nil
}

// inherit gives a diverged chain that begins with first the trust of the common
// part.
func (m *merger) inherit(ctx context.Context, name, id record.ID, first object.Hash) error {
	parents, err := m.objects.Parents(first)
	if err != nil || len(parents) == 0 { // they have nothing in common
		return err
	}
	return m.Workspace.Trust.Inherit(name, id, parents[0], func(a, b object.Hash) (bool, error) { return m.Contains(ctx, a, b) })
}

// unite merges two states of notes, into the same commit in any clone.
func (m *merger) unite(ours, theirs object.Hash) (object.Hash, error) {
	if ours.IsZero() || theirs.IsZero() || ours == theirs {
		return gitnotes.Merge(m.objects, ours, theirs, object.Signature{}, object.Signature{}, "")
	}
	var at time.Time
	for _, hash := range []object.Hash{ours, theirs} {
		c, err := m.objects.Commit(hash)
		if err != nil {
			return object.Hash{}, fmt.Errorf("read notes %s: %w", hash, err)
		}
		if c.Committer.When.After(at) {
			at = c.Committer.When.UTC()
		}
	}
	first, second := ours, theirs
	if first.String() > second.String() {
		first, second = second, first
	}
	who := object.Signature{Name: "git-agent", Email: "git-agent@localhost", When: at}
	return gitnotes.Merge(m.objects, first, second, who, who, "merge notes\n")
}

// branch moves the mission's branch forward, unless stays has a reason not to.
func (m *merger) branch(ctx context.Context, id record.ID, theirs object.Hash) (advice string, err error) {
	ref := m.Workspace.Branch(id)
	ours := m.now[ref]
	switch {
	case theirs.IsZero(), ours == theirs:
		return "", nil
	case ours.IsZero():
		if slices.Contains(m.named, id) {
			m.now[ref] = theirs
		}
		return "", nil
	}
	less, err := m.Contains(ctx, ours, theirs)
	if err != nil || less {
		return "", err
	}
	more, err := m.Contains(ctx, theirs, ours)
	if err != nil {
		return "", err
	}
	stays, err := branchStays(m.Remote, id, theirs, m.checked[ref], more, func() (bool, error) { return m.recorded(ctx, id, theirs) })
	if err == nil && stays == "" {
		m.now[ref] = theirs
	}
	return stays, err
}

// branchStays returns why a branch is left alone and what to do about it, or ""
// if it moves. where is the worktree that has it checked out; more says that
// ours has no commits of its own.
func branchStays(r *remote.Remote, id record.ID, theirs object.Hash, where string, more bool, recorded func() (bool, error)) (string, error) {
	name := r.Workspace.BranchName(id)
	switch {
	case where != "":
		return fmt.Sprintf("branch %s is checked out in %s and was left alone; to have what is new there: git -C %s merge %.12s", name, where, where, theirs), nil
	case !more:
		return fmt.Sprintf("branch %s has commits that the one at %s lacks and was left alone; that one is %.12s", name, r.Name, theirs), nil
	}
	known, err := recorded()
	if err == nil && !known {
		return fmt.Sprintf("branch %s at %s has commits that were not recorded with a key that you trust, and was left alone; that one is %.12s", name, r.Name, theirs), nil
	}
	return "", err
}

// recorded reports whether a ledger keeps a commit and may be relied on.
func (m *merger) recorded(ctx context.Context, id record.ID, commit object.Hash) (bool, error) {
	tip := m.now[id.Ref()]
	kept, err := m.Contains(ctx, tip, commit)
	if err != nil || !kept {
		return false, err
	}
	s, err := m.Workspace.TrustLevel(ctx, m.objects, id, tip)
	return s.Whole, err
}

// checkedOut returns the worktrees of branches, including those being rebased.
func checkedOut(ctx context.Context, repo *git.Repo) (map[string]string, error) {
	list, err := repo.Worktrees(ctx)
	if err != nil {
		return nil, err
	}
	branches := make(map[string]string)
	for _, w := range list {
		branch := w.Branch
		if branch == "" {
			there, err := git.Find(w.Path)
			if err != nil {
				there = repo.Behind(w.Path)
			}
			if there != nil {
				branch = there.RebasedBranch()
			}
		}
		if branch != "" {
			branches[branch] = w.Path
		}
	}
	return branches, nil
}

// MergeNotes merges theirs into a mission's notes, and reports a change.
func MergeNotes(ctx context.Context, r *remote.Remote, id record.ID, theirs object.Hash) (changed bool, err error) {
	err = alone(ctx, r, func(f *fetch) error {
		changed, err = f.uniteNotes(ctx, id, theirs)
		return err
	})
	return changed, err
}

func (f *fetch) uniteNotes(ctx context.Context, id record.ID, theirs object.Hash) (changed bool, err error) {
	err = git.Retry(git.ErrConflict, func() error {
		m := &merger{fetch: f, objects: f.Repo.Objects(ctx)}
		defer m.objects.Close()
		refs, err := f.Local(ctx, id)
		if err != nil {
			return err
		}
		ours := refs[id.NotesRef()]
		merged, err := m.unite(ours, theirs)
		if changed = merged != ours; err != nil || !changed {
			return err
		}
		if err := m.objects.Flush(); err != nil {
			return err
		}
		return f.move(ctx, []git.Update{{Ref: id.NotesRef(), New: merged, Old: ours}})
	})
	return changed, err
}
