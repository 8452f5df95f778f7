package missionstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/ledgertx"
	"gitagent/internal/record"
	"gitagent/internal/session"
	"gitagent/internal/statedir"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// An Archiving is the result, in a dry run the expected one, of archiving.
type Archiving struct {
	Done []record.ID
	Left []NotArchived
	Refs int // how many were deleted
}

// A NotArchived is a mission that stays, and the reason.
type NotArchived struct {
	ID  record.ID
	Why string
}

// Archive puts missions into the archive and deletes their refs. Missions in
// use stay: those in used, with the reason, those that are checked out, and
// those with an unrecorded turn. With dry nothing is changed.
//
// The archive is written first, then ledgers' refs go, then others. So a killed
// Archive loses no mission, and the next one deletes refs that are left. Refs
// go a few at a time under the missions' locks: a hook that waits takes a
// long-held lock of git's for a dead one's. A mission that has gone on stays.
func Archive(ctx context.Context, w *workspace.Workspace, ids []record.ID, used map[record.ID]string, dry bool) (*Archiving, error) {
	a, held, err := beginArchive(ctx, w)
	if err != nil {
		return nil, err
	}
	defer a.end(held)
	if err := a.choose(ctx, ids, used); err != nil {
		return nil, err
	}
	if !dry && len(a.entries) > 0 {
		err = a.replace(ctx, held, func(index *ledger.Archive) (map[record.ID]ledger.ArchiveEntry, error) {
			changes := make(map[record.ID]ledger.ArchiveEntry)
			for id, e := range a.entries {
				if _, err := a.setApart(ctx, index, id, e.Ledger, changes); err != nil {
					return nil, err
				}
				changes[e.ID] = e
			}
			return changes, nil
		})
		if err == nil {
			err = a.drop(ctx)
		}
		if err == nil {
			err = w.KeepAll(ctx, nil)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	a.done.Done = slices.Sorted(maps.Keys(a.entries))
	if !dry {
		for _, id := range a.done.Done {
			ledgertx.LeaveRewrites(ctx, w, id)
		}
	}
	for id, why := range a.left {
		a.done.Left = append(a.done.Left, NotArchived{id, why})
	}
	slices.SortFunc(a.done.Left, func(x, y NotArchived) int { return strings.Compare(string(x.ID), string(y.ID)) })
	return a.done, nil
}

type archiving struct {
	*workspace.Workspace
	objects *git.Objects
	entries map[record.ID]ledger.ArchiveEntry // missions whose refs go
	remains map[record.ID]ledger.ArchiveEntry // missions without a ledger's ref that have other refs left
	left    map[record.ID]string              // why missions stay
	done    *Archiving
}

// beginArchive locks the archive. The caller ends the archiving with the lock.
func beginArchive(ctx context.Context, w *workspace.Workspace) (*archiving, *statedir.Lock, error) {
	held, err := w.Store.LockArchive(ctx)
	if err != nil {
		return nil, nil, err
	}
	return &archiving{
		Workspace: w, objects: w.Repo.Objects(ctx), done: new(Archiving), left: make(map[record.ID]string),
		entries: make(map[record.ID]ledger.ArchiveEntry), remains: make(map[record.ID]ledger.ArchiveEntry),
	}, held, nil
}

func (a *archiving) end(held *statedir.Lock) {
	a.objects.Close()
	held.Release()
}

func (a *archiving) choose(ctx context.Context, ids []record.ID, used map[record.ID]string) error {
	refs, err := a.Repo.Refs(ctx, "refs/agent/missions/", "refs/notes/agent/", a.Branch(""))
	if err != nil {
		return err
	}
	used = maps.Clone(used)
	if used == nil {
		used = make(map[record.ID]string)
	}
	for _, st := range a.Store.All() {
		if st.Open != nil {
			used[st.Mission] = "its last turn has not been recorded"
		}
	}
	if err := a.checkedOut(ctx, refs, used); err != nil {
		return err
	}
	tips := make(map[record.ID]object.Hash)
	for _, id := range ids {
		if tip, ok := refs[id.Ref()]; ok && used[id] == "" {
			tips[id] = tip
		} else if ok {
			a.left[id] = used[id]
		}
	}
	lines, err := turns.Lines(ctx, a.Repo, tips)
	if err != nil && !errors.As(err, new(*ledger.UnreadError)) {
		return err
	}
	for _, l := range lines {
		delete(tips, l.ID)
		if a.entries[l.ID], err = a.entry(l, refs); err != nil {
			delete(a.entries, l.ID)
			a.left[l.ID] = err.Error()
			continue
		}
		for _, ref := range a.refsOf(l.ID) {
			if _, ok := refs[ref]; ok {
				a.done.Refs++
			}
		}
	}
	for id := range tips {
		a.left[id] = "it can't be read"
	}
	return errors.Join(ctx.Err(), a.findRemains(ctx, refs))
}

func (a *archiving) checkedOut(ctx context.Context, refs map[string]object.Hash, used map[record.ID]string) error {
	if dir := a.Repo.Hidden(); dir != "" {
		for ref := range refs {
			if id, ok := a.MissionOf(ref); ok {
				used[id] = "it may be checked out where this user may not look at " + dir
			}
		}
	}
	worktrees, err := a.Repo.Worktrees(ctx)
	for _, w := range worktrees {
		if id, ok := a.MissionOf(w.Branch); ok {
			used[id] = "it is checked out in " + w.Path
		}
	}
	return err
}

// refsOf returns the names of a mission's refs, the ledger's first.
func (a *archiving) refsOf(id record.ID) []string {
	return []string{id.Ref(), id.NotesRef(), a.Branch(id)}
}

// entry returns a mission's entry, which can keep nothing but commits.
func (a *archiving) entry(l turns.MissionLine, refs map[string]object.Hash) (ledger.ArchiveEntry, error) {
	c, err := a.objects.Commit(l.Tip)
	if err != nil {
		return ledger.ArchiveEntry{}, err
	}
	for _, ref := range a.refsOf(l.ID)[1:] {
		if tip, ok := refs[ref]; ok {
			if _, err := a.objects.Parents(tip); err != nil {
				return ledger.ArchiveEntry{}, fmt.Errorf("%s is no commit that can be read: %w", ref, err)
			}
		}
	}
	return ledger.ArchiveEntry{
		ID: l.ID, Ledger: l.Tip, Notes: refs[l.ID.NotesRef()], Branch: refs[a.Branch(l.ID)],
		Title: ledger.ArchiveTitle(l.Title), At: c.Committer.When.Unix(), Turns: l.Turns,
	}, nil
}

// findRemains finds refs that a killed archiving left behind.
func (a *archiving) findRemains(ctx context.Context, refs map[string]object.Hash) error {
	index, err := archiveOf(ctx, a.Workspace, a.objects)
	if err != nil {
		return err
	}
	for ref := range refs {
		name, ok := strings.CutPrefix(ref, "refs/notes/agent/")
		if !ok {
			name, ok = strings.CutPrefix(ref, a.Branch(""))
		}
		id, err := record.ParseID(name)
		if !ok || err != nil || !refs[id.Ref()].IsZero() {
			continue
		}
		if e, ok, err := index.Find(id); err != nil {
			return err
		} else if ok {
			a.remains[id] = e
		}
	}
	return nil
}

func archiveOf(ctx context.Context, w *workspace.Workspace, objects *git.Objects) (*ledger.Archive, error) {
	refs, err := w.Repo.Refs(ctx, ledger.ArchiveRef)
	if err != nil {
		return nil, err
	}
	tip, err := ledger.ArchiveTip(refs)
	if err != nil {
		return nil, err
	}
	return ledger.OpenArchive(objects, tip)
}

func (a *archiving) replace(ctx context.Context, held *statedir.Lock, change func(*ledger.Archive) (map[record.ID]ledger.ArchiveEntry, error)) error {
	err := ledgertx.Alone(ctx, a.Repo, held, "archive", func() ([]git.Update, error) {
		refs, err := a.Repo.Refs(ctx, ledger.ArchiveRef, ledger.ArchiveKeepRef, ledger.ArchiveRef+"/", ledger.ArchiveKeepRef+"/")
		if err != nil {
			return nil, err
		}
		tip, err := ledger.ArchiveTip(refs)
		if err != nil {
			return nil, err
		}
		index, err := ledger.OpenArchive(a.objects, tip)
		if err != nil {
			return nil, err
		}
		changes, err := change(index)
		if err != nil {
			return nil, err
		}
		if index, err = index.With(changes); err != nil {
			return nil, err
		}
		moves, err := index.Moves(refs)
		if err == nil {
			err = a.objects.Flush()
		}
		if err == nil && index.Tip.IsZero() {
			err = a.GiveUpArchive(ctx, held)
		}
		return moves, err
	})
	if err != nil {
		return err
	}
	return a.KeepArchive(ctx, held)
}

// setApart keeps an archived mission under a new id, which it returns, if the
// ledger at tip does not contain it.
func (a *archiving) setApart(ctx context.Context, index *ledger.Archive, id record.ID, tip object.Hash, changes map[record.ID]ledger.ArchiveEntry) (record.ID, error) {
	had, ok, err := index.Find(id)
	if err != nil || !ok {
		return "", err
	}
	for at := tip; at != had.Ledger; {
		parents, err := a.objects.Parents(at)
		if err != nil {
			return "", err
		}
		if len(parents) == 0 {
			first, err := ledger.Diverged(ctx, a.Repo, had.Ledger, tip)
			if err != nil {
				return "", err
			}
			own := record.OfCommit(first)
			had.ID = own
			changes[had.ID] = had
			return own, nil
		}
		at = parents[0]
	}
	return "", nil
}

// together groups missions by the lock that they share.
func together(ids []record.ID) [][]record.ID {
	byLock := make(map[uint32][]record.ID)
	for _, id := range slices.Sorted(slices.Values(ids)) {
		n := session.MissionLock(id)
		byLock[n] = append(byLock[n], id)
	}
	return slices.Collect(maps.Values(byLock))
}

// alone runs the steps, each a transaction, holding the missions' locks.
func (a *archiving) alone(ctx context.Context, ids []record.ID, steps ...func([]record.ID) ([]git.Update, error)) error {
	for _, some := range together(ids) {
		held, err := a.Store.LockMission(ctx, some[0])
		if err != nil {
			return err
		}
		for _, step := range steps {
			if err == nil {
				err = ledgertx.Alone(ctx, a.Repo, held, "archived", func() ([]git.Update, error) { return step(some) })
			}
		}
		held.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *archiving) drop(ctx context.Context) error {
	a.done.Refs = 0
	ids := slices.AppendSeq(slices.Collect(maps.Keys(a.entries)), maps.Keys(a.remains))
	return a.alone(ctx, ids,
		func(some []record.ID) ([]git.Update, error) { return a.dropLedgers(ctx, some) },
		func(some []record.ID) ([]git.Update, error) { return a.dropRemains(ctx, some) })
}

func (a *archiving) read(ctx context.Context, ids []record.ID) (refs map[string]object.Hash, used map[record.ID]string, err error) {
	var names []string
	for _, id := range ids {
		names = append(names, a.refsOf(id)...)
	}
	if refs, err = a.Repo.Refs(ctx, names...); err != nil {
		return nil, nil, err
	}
	used = make(map[record.ID]string)
	return refs, used, a.checkedOut(ctx, refs, used)
}

// dropLedgers lists ledgers' refs to delete, of missions unchanged meanwhile.
func (a *archiving) dropLedgers(ctx context.Context, ids []record.ID) (updates []git.Update, err error) {
	refs, used, err := a.read(ctx, ids)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		e, ok := a.entries[id]
		if !ok {
			continue
		}
		if refs[id.Ref()] != e.Ledger || refs[id.NotesRef()] != e.Notes || refs[a.Branch(id)] != e.Branch {
			used[id] = "it has gone on meanwhile"
		}
		if why := used[id]; why != "" {
			a.left[id] = why
			delete(a.entries, id)
			continue
		}
		updates = append(updates, git.Update{Ref: id.Ref(), Old: e.Ledger})
	}
	return updates, nil
}

// dropRemains lists other refs to delete that are as the archive has them.
func (a *archiving) dropRemains(ctx context.Context, ids []record.ID) (updates []git.Update, err error) {
	refs, used, err := a.read(ctx, ids)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		e, ok := a.entries[id]
		if ok {
			a.done.Refs++ // its ledger's
		} else if e, ok = a.remains[id]; !ok {
			continue
		}
		if _, live := refs[id.Ref()]; live || used[id] != "" {
			continue
		}
		for ref, kept := range map[string]object.Hash{id.NotesRef(): e.Notes, a.Branch(id): e.Branch} {
			if tip, ok := refs[ref]; ok && tip == kept {
				updates = append(updates, git.Update{Ref: ref, Old: tip})
			}
		}
	}
	a.done.Refs += len(updates)
	return updates, nil
}

// Unarchive makes archived missions' refs again and takes them out of the
// archive. If one is not there, it fails before anything changes. apart maps a
// mission that a program without archives began again to the archived one's new
// id.
func Unarchive(ctx context.Context, w *workspace.Workspace, ids []record.ID) (apart map[record.ID]record.ID, err error) {
	apart, err = unarchive(ctx, w, ids)
	if err == nil && len(apart) > 0 {
		_, err = unarchive(ctx, w, slices.Sorted(maps.Values(apart)))
	}
	return apart, err
}

// unarchive leaves those in the archive. The ledgers' refs come last: even
// after a kill, a mission that has one has the others.
func unarchive(ctx context.Context, w *workspace.Workspace, ids []record.ID) (apart map[record.ID]record.ID, err error) {
	a, held, err := beginArchive(ctx, w)
	if err != nil {
		return nil, err
	}
	defer a.end(held)
	if err := a.find(ctx, ids); err != nil {
		return nil, err
	}
	tips := make(map[record.ID]object.Hash)
	err = a.alone(ctx, ids,
		func(some []record.ID) ([]git.Update, error) { return a.restoreOthers(ctx, some) },
		func(some []record.ID) ([]git.Update, error) { return a.restoreLedgers(ctx, some, tips) })
	if err == nil {
		err = w.KeepAll(ctx, nil) // while the archive keeps them, too
	}
	if err == nil {
		err = a.replace(ctx, held, func(index *ledger.Archive) (map[record.ID]ledger.ArchiveEntry, error) {
			changes := make(map[record.ID]ledger.ArchiveEntry)
			apart = make(map[record.ID]record.ID)
			for _, id := range ids {
				changes[id] = ledger.ArchiveEntry{}
				own, err := a.setApart(ctx, index, id, tips[id], changes)
				if err != nil {
					return nil, err
				}
				if own != "" {
					apart[id] = own
				}
			}
			return changes, nil
		})
	}
	if err != nil {
		return nil, fmt.Errorf("take missions out of the archive: %w", err)
	}
	for id, e := range a.entries {
		if !e.Branch.IsZero() && !e.Notes.IsZero() {
			ledgertx.FollowRewrites(ctx, w, id)
		}
	}
	return apart, nil
}

// restoreOthers lists the refs to make again, except the ledgers'.
func (a *archiving) restoreOthers(ctx context.Context, ids []record.ID) (updates []git.Update, err error) {
	refs, _, err := a.read(ctx, ids)
	for _, id := range ids {
		if _, live := refs[id.Ref()]; live {
			continue // it has gone on
		}
		e := a.entries[id]
		for ref, kept := range map[string]object.Hash{id.NotesRef(): e.Notes, a.Branch(id): e.Branch} {
			if refs[ref].IsZero() && !kept.IsZero() {
				updates = append(updates, git.Update{Ref: ref, New: kept})
			}
		}
	}
	return updates, err
}

// restoreLedgers lists the ledgers' refs to make again, and sets all tips.
func (a *archiving) restoreLedgers(ctx context.Context, ids []record.ID, tips map[record.ID]object.Hash) (updates []git.Update, err error) {
	refs, _, err := a.read(ctx, ids)
	for _, id := range ids {
		if tips[id] = refs[id.Ref()]; tips[id].IsZero() {
			tips[id] = a.entries[id].Ledger
			updates = append(updates, git.Update{Ref: id.Ref(), New: tips[id]})
		}
	}
	return updates, err
}

func (a *archiving) find(ctx context.Context, ids []record.ID) error {
	index, err := archiveOf(ctx, a.Workspace, a.objects)
	if err != nil {
		return err
	}
	for _, id := range ids {
		e, ok, err := index.Find(id)
		if err == nil && !ok {
			err = git.ErrNotFound
		}
		if err != nil {
			return fmt.Errorf("mission %s in the archive: %w", id, err)
		}
		a.entries[id] = e
	}
	return nil
}

// forgetArchived marks missions that the archive has as removed.
func forgetArchived(ctx context.Context, w *workspace.Workspace, ids ...record.ID) error {
	refs, err := w.Repo.Refs(ctx, ledger.ArchiveRef)
	if err != nil || len(refs) == 0 {
		return err // nothing is archived, and removing costs nothing more
	}
	a, held, err := beginArchive(ctx, w)
	if err != nil {
		return err
	}
	defer a.end(held)
	err = a.replace(ctx, held, func(index *ledger.Archive) (map[record.ID]ledger.ArchiveEntry, error) {
		clear(a.remains)
		changes := make(map[record.ID]ledger.ArchiveEntry)
		for _, id := range ids {
			e, ok, err := index.Find(id)
			if err != nil {
				return nil, err
			}
			if ok {
				a.remains[id] = e
				changes[e.ID] = ledger.ArchiveEntry{ID: e.ID, Removed: e.Ledger, At: e.At, Turns: e.Turns}
			}
		}
		return changes, nil
	})
	if err == nil {
		err = a.drop(ctx) // what an archiving that was killed has left of their refs
	}
	if err != nil {
		return fmt.Errorf("remove from the archive: %w", err)
	}
	return nil
}
