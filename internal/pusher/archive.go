package pusher

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"gitagent/internal/fetcher"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/purge"
	"gitagent/internal/purgemap"
	"gitagent/internal/record"
	"gitagent/internal/remote"
)

// archivedThere adds to theirs what the remote's archive has as we have it.
func archivedThere(ctx context.Context, r *remote.Remote, refs map[string]object.Hash, theirs, ours map[record.ID]remote.Tips) error {
	tip, err := fetcher.ArchiveIndex(ctx, r, r.Source, refs)
	if err != nil || tip.IsZero() {
		return err
	}
	objects := r.Repo.Objects(ctx)
	defer objects.Close()
	index, err := ledger.OpenArchive(objects, tip)
	if err != nil { // an unreadable archive has nothing: the missions are sent
		return ctx.Err()
	}
	known := r.Learned()
	there := make(map[record.ID]remote.Tips, len(ours)) // what would be sent, under its name there
	for id, t := range ours {
		if as := known.Name(id); theirs[as].Zero() {
			there[as] = t
		}
	}
	for _, id := range slices.Sorted(maps.Keys(there)) {
		if e, ok, _ := index.Find(id); ok && e.Ledger == there[id].Ledger {
			theirs[id] = there[id]
		}
	}
	return nil
}

// A SentArchive is the outcome of [PushArchive].
type SentArchive struct {
	Sent bool        // anything was sent
	Gone []record.ID // missions that the remote now has only in its archive
}

// PushArchive unites our archive with the remote's, there, and then deletes the
// remote's refs to missions that its archive has in full. Ours stays.
//
// The union does not descend from the remote's archive, so it replaces only the
// value that was read. PushArchive can be killed and repeated. If refs of
// others' are in its way there, nothing is sent, and the error wraps a
// [*git.InWayError].
func PushArchive(ctx context.Context, r *remote.Remote) (*SentArchive, error) {
	done := new(SentArchive)
	refs, err := r.Repo.Refs(ctx, ledger.ArchiveRef)
	if err != nil || len(refs) == 0 || r.Level != remote.All {
		return done, err
	}
	held, err := r.LockPush(ctx, "")
	if err != nil {
		return nil, err
	}
	defer held.Release()
	_, err = besides(ctx, r, func(ref string) bool { return ref == ledger.ArchiveKeepRef }, func() (*SentArchive, error) {
		return done, pushArchive(ctx, r, done)
	})
	if err != nil {
		err = fmt.Errorf("push the archive to %s: %w", r, err)
	}
	return done, err
}

const (
	maxStill     = 5 // rejections in a row while the remote has not moved
	archivePause = 50 * time.Millisecond
)

func pushArchive(ctx context.Context, r *remote.Remote, done *SentArchive) error {
	there, err := r.Refs(ctx, r.Source)
	if err == nil {
		there, err = upToDate(ctx, r, there)
	}
	if err == nil {
		err = r.InWay(there, ledger.ArchiveRef, ledger.ArchiveKeepRef)
	}
	still := 0
	for attempt := 1; err == nil; attempt++ {
		index, updates, err := unitedArchive(ctx, r, there)
		if err != nil {
			return err
		}
		refused := force(ctx, r, updates, new(Replaced))
		if refused == nil {
			done.Sent = done.Sent || len(updates) > 0
			refused = errors.Join(fetcher.NoteArchive(ctx, r, updates), dropArchived(ctx, r, there, index, done))
		}
		if refused == nil {
			return nil
		}
		was := there
		there, err = r.Refs(ctx, r.Source)
		if still++; !maps.Equal(was, there) { // if the refs have not moved, the remote does not accept ours
			still = 0
		}
		if !errors.Is(refused, ErrRejected) || still == maxStill || attempt == git.MaxAttempts {
			return errors.Join(refused, err)
		}
		select {
		case <-time.After(time.Duration(attempt) * archivePause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return err
}

// unitedArchive unites our archive with a source's, and returns the moves
// there.
func unitedArchive(ctx context.Context, r *remote.Remote, there map[string]object.Hash) (index object.Hash, updates []git.Update, err error) {
	ours, err := r.Repo.Refs(ctx, ledger.ArchiveRef, ledger.ArchiveKeepRef)
	if err != nil {
		return index, nil, err
	}
	if index, err = archiveToSend(ctx, r, ours); err != nil {
		return index, nil, err
	}
	keep := there[ledger.ArchiveKeepRef]
	objects := r.Repo.Objects(ctx)
	defer objects.Close()
	stem, err := ledger.ArchiveStem(objects, keep) // for comparison only, not written
	if err != nil {
		return index, nil, err
	}
	if theirs := there[ledger.ArchiveRef]; !theirs.IsZero() && theirs != index {
		theirs, err := fetcher.Archive(ctx, r, r.Source, there, stem, index)
		if err != nil {
			return index, nil, err
		}
		if ours, err = r.Repo.Refs(ctx, ledger.ArchiveRef, ledger.ArchiveKeepRef); err == nil { // ours may have changed
			index, err = archiveToSend(ctx, r, ours)
		}
		if err == nil {
			index, keep, err = uniteArchives(ctx, r, theirs, index)
		}
		if err != nil {
			return index, nil, err
		}
	} else if theirs.IsZero() || stem != ours[ledger.ArchiveKeepRef] { // what is sent keeps all that it lists
		if keep, err = keepOf(ctx, r, index); err != nil {
			return index, nil, err
		}
	}
	now := map[string]object.Hash{ledger.ArchiveRef: index, ledger.ArchiveKeepRef: keep}
	if !there[purgemap.Ref].IsZero() { // missions that only the archive had may have been purged
		known, err := r.Repo.Refs(ctx, purgemap.Ref)
		if err != nil {
			return index, nil, err
		}
		now[purgemap.Ref] = known[purgemap.Ref]
	}
	for ref, to := range now {
		if there[ref] != to {
			updates = append(updates, git.Update{Ref: ref, New: to, Old: there[ref]})
		}
	}
	return index, updates, nil
}

// archiveToSend returns the index of our archive without missions that wait for
// a person to decide about a purge.
func archiveToSend(ctx context.Context, r *remote.Remote, refs map[string]object.Hash) (object.Hash, error) {
	tip, err := ledger.ArchiveTip(refs)
	if err != nil {
		return tip, err
	}
	held, err := purge.AllHeld(r.Workspace.Store)
	if err != nil || len(held) == 0 {
		return tip, err
	}
	objects := r.Repo.Objects(ctx)
	defer objects.Close()
	index, err := ledger.OpenArchive(objects, tip)
	if err != nil {
		return tip, err
	}
	without := make(map[record.ID]ledger.ArchiveEntry)
	for _, h := range held {
		if e, ok, err := index.Find(h.Mission); err == nil && ok && !e.Gone() {
			without[h.Mission] = ledger.ArchiveEntry{}
		}
	}
	if len(without) == 0 {
		return tip, nil
	}
	if index, err = index.With(without); err == nil {
		err = objects.Flush()
	}
	if err != nil {
		return tip, err
	}
	return index.Tip, nil
}

func keepOf(ctx context.Context, r *remote.Remote, index object.Hash) (keep object.Hash, err error) {
	objects := r.Repo.Objects(ctx)
	defer objects.Close()
	x, err := ledger.OpenArchive(objects, index)
	if err == nil {
		keep, err = x.Keep()
	}
	if err == nil {
		err = objects.Flush()
	}
	return keep, err
}

// uniteArchives writes the union of two archives whose missions are all here.
func uniteArchives(ctx context.Context, r *remote.Remote, a, b object.Hash) (index, keep object.Hash, err error) {
	objects := r.Repo.Objects(ctx)
	defer objects.Close()
	x, err := ledger.OpenArchive(objects, a)
	if err != nil {
		return index, keep, err
	}
	y, err := ledger.OpenArchive(objects, b)
	if err != nil {
		return index, keep, err
	}
	if x, err = whole(objects, x, y); err != nil {
		return index, keep, err
	}
	both, err := x.Unite(y, func(commit, besides object.Hash) (record.ID, error) {
		if commit == besides {
			return "", nil
		}
		if objects.Has(commit) != nil { // of a mission that was removed
			return record.OfCommit(besides), nil
		}
		if has, err := r.Contains(ctx, commit, besides); err != nil || has {
			return "", err
		}
		first, err := ledger.Diverged(ctx, r.Repo, besides, commit)
		return record.OfCommit(first), err
	})
	if err == nil {
		keep, err = both.Keep()
	}
	if err == nil {
		err = objects.Flush()
	}
	if err != nil {
		return index, keep, err
	}
	return both.Tip, keep, nil
}

// whole drops from a fetched archive the missions with objects that did not
// come or are no commits: an archive that lists them could not be sent. Entries
// that ours shares are not checked.
func whole(objects *git.Objects, theirs, ours *ledger.Archive) (*ledger.Archive, error) {
	mine := make(map[record.ID]ledger.ArchiveEntry)
	for e := range ours.All() {
		mine[e.ID] = e
	}
	drop := make(map[record.ID]ledger.ArchiveEntry)
	for e, err := range theirs.All() {
		if err != nil {
			return nil, err
		}
		if mine[e.ID] == e {
			continue
		}
		for _, h := range []object.Hash{e.Ledger, e.Notes, e.Branch} {
			if h.IsZero() {
				continue
			}
			if _, err := objects.Parents(h); err != nil {
				drop[e.ID] = ledger.ArchiveEntry{}
			}
		}
	}
	if len(drop) == 0 {
		return theirs, nil
	}
	return theirs.With(drop)
}

// dropArchived deletes the remote's refs to missions its archive has in full.
func dropArchived(ctx context.Context, r *remote.Remote, there map[string]object.Hash, tip object.Hash, done *SentArchive) error {
	objects := r.Repo.Objects(ctx)
	defer objects.Close()
	index, err := ledger.OpenArchive(objects, tip)
	if err != nil {
		return err
	}
	var ids []record.ID
	var doomed []map[string]object.Hash
	theirs := r.Missions(there)
	for _, id := range slices.Sorted(maps.Keys(theirs)) { // in order, as each file of the index is read once
		t := theirs[id]
		e, ok, err := index.Find(id)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		kept := remote.Tips{Ledger: e.Ledger, Notes: e.Notes, Branch: e.Branch}
		if r.Extends(ctx, objects, kept.Ledger, t.Ledger) && r.Extends(ctx, objects, kept.Notes, t.Notes) && hasBranch(ctx, r, objects, kept, t.Branch) {
			ids, doomed = append(ids, id), append(doomed, missionRefs(r, id, t))
		}
	}
	stayed, err := deleteRefs(ctx, r, doomed)
	for i, id := range ids {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(doomed[i])), func(ref string) bool { return stayed[ref] }) {
			done.Gone = append(done.Gone, id)
		}
	}
	return err
}
