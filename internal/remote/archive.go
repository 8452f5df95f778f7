package remote

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"gitagent/internal/archive"
	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/lock"
	"gitagent/internal/purgemap"
	"gitagent/internal/record"
	"gitagent/internal/scrub"
)

// The remote's archive, as last seen, has refs apart from our archive, because
// it is untrusted. Commits that keep its objects are here only once both were
// united; without them each push would fetch the objects again.

func seenIndex(r *Remote) string { return archive.SeenRefs + escape(r.Name) + "/index" }
func seenKeep(r *Remote) string  { return archive.SeenRefs + escape(r.Name) + "/keep" }

// seeing runs do, which moves these refs, under a lock that pushes and fetches
// share. It notes where git may leave locks.
func seeing(ctx context.Context, r *Remote, do func(f *fetch) error) error {
	held, err := r.lock(ctx, "archive")
	if err != nil {
		return err
	}
	defer held.Release()
	files := append(r.repo.TableLists(), filepath.Join(r.repo.CommonDir, filepath.FromSlash(archive.SeenRefs), escape(r.Name))+"/")
	if err := git.DropLeft(ctx, held); err != nil {
		return err
	}
	alone := *r
	alone.repo = r.repo.With(git.Holding(held.File()))
	return held.With(lock.Note{Words: files, Long: true}, func() error { return do(&fetch{&alone, held}) })
}

// See fetches the index of the remote's archive. there are the remote's refs.
func See(ctx context.Context, r *Remote, source string, there map[string]git.Hash) (index git.Hash, err error) {
	seen, err := r.repo.Refs(ctx, seenIndex(r))
	index = there[archive.IndexRef]
	if err != nil || seen[seenIndex(r)] == index {
		return index, err
	}
	return index, seeing(ctx, r, func(f *fetch) error {
		if index.IsZero() {
			return f.move(ctx, []git.Update{{Ref: seenIndex(r), Old: seen[seenIndex(r)]}})
		}
		return fetchRefs(ctx, f.Remote, source, "+"+archive.IndexRef+":"+seenIndex(r)+"\n")
	})
}

// archivedOf returns archived missions of the remote that are missing here or
// were named: alone without refs there, besides with refs. The index is
// untrusted; its errors are returned only if missions were named.
func archivedOf(ctx context.Context, r *Remote, tip git.Hash, ids []record.ID, theirs map[record.ID]tips, named bool) (alone, besides []archive.Entry, err error) {
	objects := r.repo.Objects(ctx)
	defer objects.Close()
	index, err := archive.Open(objects, tip)
	switch {
	case err != nil && named:
		return nil, nil, err
	case err != nil:
		return nil, nil, nil
	}
	wanted, files := make(map[record.ID]bool), make(map[string]bool)
	for _, id := range ids {
		wanted[id], files[string(id[:2])] = true, true
	}
	var problems []error
	for file := range files {
		entries, err := index.Like(file)
		if named {
			problems = append(problems, err)
		}
		for _, e := range entries {
			if !wanted[e.ID] {
				continue
			}
			live := !theirs[e.ID].ledger.IsZero()
			switch here, err := holds(ctx, r, objects, e.ID, e.Ledger); {
			case err != nil:
				problems = append(problems, err)
			case here && (live || !named):
			case live:
				besides = append(besides, e)
			default:
				alone = append(alone, e)
			}
		}
	}
	return alone, besides, errors.Join(problems...)
}

func holds(ctx context.Context, r *Remote, objects *git.Objects, id record.ID, tip git.Hash) (bool, error) {
	ours, err := ledger.Tip(ctx, r.repo, id)
	if errors.Is(err, git.ErrNotFound) {
		return false, nil
	}
	if err != nil || ours == tip {
		return err == nil, err
	}
	return r.extends(ctx, objects, ours, tip), nil
}

// bringArchived fetches archived missions as if the remote had refs to them.
func bringArchived(ctx context.Context, r *Remote, source, into string, list []archive.Entry) error {
	refspecs := ""
	for _, e := range list {
		for namespace, hash := range map[string]git.Hash{ledgers: e.Ledger, notes: e.Notes, r.branches(): e.Branch} {
			if !hash.IsZero() {
				refspecs += hash.String() + ":" + landingOf(r, into, namespace) + string(e.ID) + "\n"
			}
		}
	}
	if refspecs == "" {
		return nil
	}
	return fetchRefs(ctx, r, source, refspecs)
}

// archivedThere adds to theirs what the remote's archive has as we have it.
func archivedThere(ctx context.Context, r *Remote, source string, refs map[string]git.Hash, theirs, ours map[record.ID]tips) error {
	tip, err := See(ctx, r, source, refs)
	if err != nil || tip.IsZero() {
		return err
	}
	objects := r.repo.Objects(ctx)
	defer objects.Close()
	index, err := archive.Open(objects, tip)
	if err != nil { // an unreadable archive has nothing: the missions are sent
		return ctx.Err()
	}
	known := r.remember()
	there := make(map[record.ID]tips, len(ours)) // what would be sent, under its name there
	for id, t := range ours {
		if as := known.name(id); theirs[as].zero() {
			there[as] = t
		}
	}
	for e := range index.All() {
		if t, ok := there[e.ID]; ok && !e.Gone() && e.Ledger == t.ledger {
			theirs[e.ID] = t
		}
	}
	return nil
}

// A SentArchive is the outcome of [Remote.PushArchive].
type SentArchive struct {
	Sent bool        // anything was sent
	Gone []record.ID // missions that the remote now has only in its archive
}

// PushArchive unites our archive with the remote's, there, and then deletes the
// remote's refs to missions that its archive has in full. Ours stays.
//
// The union does not descend from the remote's archive, so it replaces only the
// value that was read. PushArchive can be killed and repeated.
func PushArchive(ctx context.Context, r *Remote) (*SentArchive, error) {
	done := new(SentArchive)
	refs, err := r.repo.Refs(ctx, archive.IndexRef)
	if err != nil || len(refs) == 0 || r.Level != All {
		return done, err
	}
	held, err := r.lock(ctx, "push")
	if err != nil {
		return nil, err
	}
	defer held.Release()
	for _, source := range r.sources {
		if err := pushArchive(ctx, r, source, done); err != nil {
			return done, fmt.Errorf("push the archive to %s: %w", r.Name, err)
		}
	}
	return done, nil
}

const (
	maxStill     = 5 // rejections in a row while the remote has not moved
	archivePause = 50 * time.Millisecond
)

func pushArchive(ctx context.Context, r *Remote, source string, done *SentArchive) error {
	there, err := r.refs(ctx, source)
	if err == nil {
		there, err = upToDate(ctx, r, source, there)
	}
	still := 0
	for attempt := 1; err == nil; attempt++ {
		index, updates, err := unitedArchive(ctx, r, source, there)
		if err != nil {
			return err
		}
		refused := force(ctx, r, source, updates, new(Replaced))
		if refused == nil {
			done.Sent = done.Sent || len(updates) > 0
			refused = errors.Join(NoteArchive(ctx, r, updates), dropArchived(ctx, r, there, index, done))
		}
		if refused == nil {
			return nil
		}
		was := there
		there, err = r.refs(ctx, source)
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
func unitedArchive(ctx context.Context, r *Remote, source string, there map[string]git.Hash) (index git.Hash, updates []git.Update, err error) {
	ours, err := r.repo.Refs(ctx, archive.IndexRef, archive.KeepRef, seenIndex(r), seenKeep(r))
	if err != nil {
		return index, nil, err
	}
	if index, err = archive.Tip(ours); err != nil {
		return index, nil, err
	}
	keep := there[archive.KeepRef]
	objects := r.repo.Objects(ctx)
	defer objects.Close()
	stem, err := archive.Stem(objects, keep) // for comparison only, not written
	if err != nil {
		return index, nil, err
	}
	if theirs := there[archive.IndexRef]; !theirs.IsZero() && theirs != index {
		if ours[seenIndex(r)] != theirs || ours[seenKeep(r)] != stem {
			if err := seeing(ctx, r, func(f *fetch) error { return f.fetchArchive(ctx, source, there) }); err != nil {
				return index, nil, err
			}
		}
		theirs, err := WithoutPurged(ctx, r, source, there, index)
		if err != nil {
			return index, nil, err
		}
		if ours, err = r.repo.Refs(ctx, archive.IndexRef, archive.KeepRef); err == nil { // ours may have changed
			index, err = archive.Tip(ours)
		}
		if err == nil {
			index, keep, err = uniteArchives(ctx, r, theirs, index)
		}
		if err != nil {
			return index, nil, err
		}
	} else if theirs.IsZero() || stem != ours[archive.KeepRef] { // what is sent keeps all that it lists
		if keep, err = keepOf(ctx, r, index); err != nil {
			return index, nil, err
		}
	}
	now := map[string]git.Hash{archive.IndexRef: index, archive.KeepRef: keep}
	if !there[purgemap.Ref].IsZero() { // missions that only the archive had may have been purged
		known, err := r.repo.Refs(ctx, purgemap.Ref)
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

// fetchArchive fetches a source's archive and updates there, as what arrives
// may be newer. The caller holds the lock of seeing.
func (f *fetch) fetchArchive(ctx context.Context, source string, there map[string]git.Hash) error {
	refspecs, keeps := "+"+archive.IndexRef+":"+seenIndex(f.Remote)+"\n", !there[archive.KeepRef].IsZero()
	if keeps {
		refspecs += "+" + archive.KeepRef + ":" + seenKeep(f.Remote) + "\n"
	}
	if err := fetchRefs(ctx, f.Remote, source, refspecs); err != nil {
		return err
	}
	got, err := f.repo.Refs(ctx, seenIndex(f.Remote), seenKeep(f.Remote))
	if err != nil {
		return err
	}
	if there[archive.IndexRef] = got[seenIndex(f.Remote)]; !keeps {
		return nil
	}
	there[archive.KeepRef] = got[seenKeep(f.Remote)]
	stem, err := stem(ctx, f.Remote, got[seenKeep(f.Remote)])
	if err != nil {
		return err
	}
	return f.move(ctx, []git.Update{{Ref: seenKeep(f.Remote), New: stem, Old: got[seenKeep(f.Remote)]}})
}

// WithoutPurged applies purges to a source's archive and returns its new tip.
// It skips entries that ours shares: purges were applied to them.
func WithoutPurged(ctx context.Context, r *Remote, source string, there map[string]git.Hash, ours git.Hash) (tip git.Hash, err error) {
	theirs := there[archive.IndexRef]
	known, err := r.repo.Refs(ctx, purgemap.Ref)
	if err != nil || known[purgemap.Ref].IsZero() {
		return theirs, err
	}
	err = alone(ctx, r, func(f *fetch) error {
		if err := f.clear(ctx); err != nil {
			return err
		}
		into := landings(r) + rand.Text() + "/"
		all, landed, err := land(ctx, r, into, theirs, ours)
		if err != nil || len(landed) == 0 {
			tip = theirs
			return err
		}
		applied, arrived, err := f.apply(ctx, source, into, there, true)
		if err == nil {
			tip, err = anew(ctx, r, all, landed, applied, arrived)
		}
		return errors.Join(err, f.clear(ctx))
	})
	return tip, err
}

// land gives landing refs to missions of theirs that ours lacks or has
// otherwise.
func land(ctx context.Context, r *Remote, into string, theirs, ours git.Hash) (all map[record.ID]archive.Entry, landed []record.ID, err error) {
	objects := r.repo.Objects(ctx)
	defer objects.Close()
	x, err := archive.Open(objects, theirs)
	if err != nil {
		return nil, nil, err
	}
	y, err := archive.Open(objects, ours)
	if err != nil {
		return nil, nil, err
	}
	all = make(map[record.ID]archive.Entry)
	var refs []git.Update
	for e, err := range x.All() {
		if err != nil {
			return nil, nil, err
		}
		all[e.ID] = e
		if mine, _, err := y.Find(e.ID); err != nil || e.Gone() || mine == e || objects.Has(e.Ledger) != nil {
			continue
		}
		landed = append(landed, e.ID)
		for namespace, hash := range map[string]git.Hash{ledgers: e.Ledger, notes: e.Notes, r.branches(): e.Branch} {
			if !hash.IsZero() {
				refs = append(refs, git.Update{Ref: landingOf(r, into, namespace) + string(e.ID), New: hash})
			}
		}
	}
	return all, landed, r.repo.UpdateRefs(ctx, "archived at "+r.Name, refs)
}

// anew writes an archive whose landed missions are as a purge left them. The
// old archive's objects may be gone.
func anew(ctx context.Context, r *Remote, all map[record.ID]archive.Entry, landed []record.ID, applied *applied, arrived map[record.ID]tips) (git.Hash, error) {
	memory, err := scrub.ReadMemory(r.w.Store.Dir())
	if err != nil {
		return git.Hash{}, err
	}
	for _, id := range landed {
		e := all[id]
		if _, held := applied.Held[id]; held {
			continue
		}
		if delete(all, id); memory != nil {
			e.Title = string(memory.Finder().Replace([]byte(e.Title)))
		}
		id = cmp.Or(applied.Renamed[id], id)
		if t, ok := arrived[id]; ok {
			e.ID, e.Ledger, e.Notes, e.Branch = id, t.ledger, t.notes, t.branch
			all[e.ID] = e
		}
	}
	objects := r.repo.Objects(ctx)
	defer objects.Close()
	index, err := archive.Open(objects, git.Hash{})
	if err == nil {
		index, err = index.With(all)
	}
	if err == nil {
		err = objects.Flush()
	}
	if err != nil {
		return git.Hash{}, err
	}
	return index.Tip, nil
}

func keepOf(ctx context.Context, r *Remote, index git.Hash) (keep git.Hash, err error) {
	objects := r.repo.Objects(ctx)
	defer objects.Close()
	x, err := archive.Open(objects, index)
	if err == nil {
		keep, err = x.Keep()
	}
	if err == nil {
		err = objects.Flush()
	}
	return keep, err
}

// stem writes what a local ref stores of a keeping commit, see [archive.Stem].
func stem(ctx context.Context, r *Remote, keep git.Hash) (git.Hash, error) {
	objects := r.repo.Objects(ctx)
	defer objects.Close()
	stem, err := archive.Stem(objects, keep)
	if err == nil {
		err = objects.Flush()
	}
	return stem, err
}

// uniteArchives writes the union of two archives whose missions are all here.
func uniteArchives(ctx context.Context, r *Remote, a, b git.Hash) (index, keep git.Hash, err error) {
	objects := r.repo.Objects(ctx)
	defer objects.Close()
	x, err := archive.Open(objects, a)
	if err != nil {
		return index, keep, err
	}
	y, err := archive.Open(objects, b)
	if err != nil {
		return index, keep, err
	}
	if x, err = whole(objects, x, y); err != nil {
		return index, keep, err
	}
	both, err := x.Unite(y, func(commit, besides git.Hash) (record.ID, error) {
		if commit == besides {
			return "", nil
		}
		if objects.Has(commit) != nil { // of a mission that was removed
			return record.OfCommit(besides), nil
		}
		if has, err := r.contains(ctx, commit, besides); err != nil || has {
			return "", err
		}
		first, err := ledger.Diverged(ctx, r.repo, besides, commit)
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
func whole(objects *git.Objects, theirs, ours *archive.Index) (*archive.Index, error) {
	mine := make(map[record.ID]archive.Entry)
	for e := range ours.All() {
		mine[e.ID] = e
	}
	drop := make(map[record.ID]archive.Entry)
	for e, err := range theirs.All() {
		if err != nil {
			return nil, err
		}
		if mine[e.ID] == e {
			continue
		}
		for _, h := range []git.Hash{e.Ledger, e.Notes, e.Branch} {
			if h.IsZero() {
				continue
			}
			if _, err := objects.Parents(h); err != nil {
				drop[e.ID] = archive.Entry{}
			}
		}
	}
	if len(drop) == 0 {
		return theirs, nil
	}
	return theirs.With(drop)
}

// NoteArchive records what a push made of the remote's archive, to spare fetching it.
func NoteArchive(ctx context.Context, r *Remote, updates []git.Update) error {
	refs, err := r.repo.Refs(ctx, seenIndex(r), seenKeep(r))
	if err != nil {
		return err
	}
	var moves []git.Update
	for _, u := range updates {
		move := git.Update{New: u.New}
		switch u.Ref {
		case archive.IndexRef:
			move.Ref = seenIndex(r)
		case archive.KeepRef:
			move.Ref = seenKeep(r)
			if move.New, err = stem(ctx, r, u.New); err != nil {
				return err
			}
		default:
			continue
		}
		if move.Old = refs[move.Ref]; move.Old != move.New {
			moves = append(moves, move)
		}
	}
	if len(moves) == 0 {
		return nil
	}
	err = seeing(ctx, r, func(f *fetch) error { return f.move(ctx, moves) })
	if errors.Is(err, git.ErrConflict) { // a fetch knows better
		return nil
	}
	return err
}

// dropArchived deletes the remote's refs to missions its archive has in full.
func dropArchived(ctx context.Context, r *Remote, there map[string]git.Hash, tip git.Hash, done *SentArchive) error {
	objects := r.repo.Objects(ctx)
	defer objects.Close()
	index, err := archive.Open(objects, tip)
	if err != nil {
		return err
	}
	var ids []record.ID
	var doomed []map[string]git.Hash
	theirs := r.missions(there)
	for e, err := range index.All() {
		if err != nil {
			return err
		}
		id := e.ID
		t, ok := theirs[id]
		if !ok || e.Gone() {
			continue
		}
		kept := tips{e.Ledger, e.Notes, e.Branch}
		if r.extends(ctx, objects, kept.ledger, t.ledger) && r.extends(ctx, objects, kept.notes, t.notes) && hasBranch(ctx, r, objects, kept, t.branch) {
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
