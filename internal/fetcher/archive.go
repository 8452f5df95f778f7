package fetcher

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/purgemap"
	"gitagent/internal/record"
	"gitagent/internal/remote"
	"gitagent/internal/scrub"
	"gitagent/internal/statedir"
)

// The remote's archive, as last seen, has refs apart from our archive, because
// it is untrusted. Commits that keep its objects are here only once both were
// united; without them each push would fetch the objects again.

func seenIndex(r *remote.Remote) string {
	return ledger.SeenArchives + remote.Escape(r.Name) + "/index"
}

func seenKeep(r *remote.Remote) string { return ledger.SeenArchives + remote.Escape(r.Name) + "/keep" }

// seeing runs do, which moves these refs, under a lock that pushes and fetches
// share. It notes where git may leave locks.
func seeing(ctx context.Context, r *remote.Remote, do func(f *fetch) error) error {
	held, err := r.Lock(ctx, "archive")
	if err != nil {
		return err
	}
	defer held.Release()
	files := append(r.Repo.TableLists(), filepath.Join(r.Repo.RefsDir(), filepath.FromSlash(ledger.SeenArchives), remote.Escape(r.Name))+"/")
	if err := git.DropLeft(ctx, held); err != nil {
		return err
	}
	alone := *r
	alone.Repo = r.Repo.With(git.Holding(held.File()))
	return held.With(statedir.Note{Words: files, Long: true}, func() error { return do(&fetch{&alone, held}) })
}

// ArchiveIndex fetches the index of the remote's archive. there are the
// remote's refs.
func ArchiveIndex(ctx context.Context, r *remote.Remote, source string, there map[string]object.Hash) (index object.Hash, err error) {
	seen, err := r.Repo.Refs(ctx, seenIndex(r))
	index = there[ledger.ArchiveRef]
	if err != nil || seen[seenIndex(r)] == index {
		return index, err
	}
	return index, seeing(ctx, r, func(f *fetch) error {
		if index.IsZero() {
			return f.move(ctx, []git.Update{{Ref: seenIndex(r), Old: seen[seenIndex(r)]}})
		}
		return fetchRefs(ctx, f.Remote, source, "+"+ledger.ArchiveRef+":"+seenIndex(r)+"\n")
	})
}

// archivedOf returns archived missions of the remote that are missing here or
// were named: alone without refs there, besides with refs. The index is
// untrusted; its errors are returned only if missions were named.
func archivedOf(ctx context.Context, r *remote.Remote, tip object.Hash, ids []record.ID, theirs map[record.ID]remote.Tips, named bool) (alone, besides []ledger.ArchiveEntry, err error) {
	objects := r.Repo.Objects(ctx)
	defer objects.Close()
	index, err := ledger.OpenArchive(objects, tip)
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
			live := !theirs[e.ID].Ledger.IsZero()
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

func holds(ctx context.Context, r *remote.Remote, objects *git.Objects, id record.ID, tip object.Hash) (bool, error) {
	ours, err := ledger.Tip(ctx, r.Repo, id)
	if errors.Is(err, git.ErrNotFound) {
		return false, nil
	}
	if err != nil || ours == tip {
		return err == nil, err
	}
	return r.Extends(ctx, objects, ours, tip), nil
}

// bringArchived fetches archived missions as if the remote had refs to them.
// there are the remote's refs. An index, which anybody who can push may write, can
// name commits that the archive lacks: the error tells of their missions once, and
// they are left out until the archive is another one, which else would come whole
// with every fetch.
func bringArchived(ctx context.Context, r *remote.Remote, source, into string, there map[string]object.Hash, list []ledger.ArchiveEntry) error {
	keep, unkept := there[ledger.ArchiveKeepRef], r.Learned().Unkept
	var refspecs strings.Builder
	var commits []object.Hash
	var missions [][]git.Update
	for _, e := range list {
		landings := landingsOf(r, into, e)
		if slices.ContainsFunc(landings, func(u git.Update) bool { at, ok := unkept[u.New]; return ok && at == keep }) {
			continue
		}
		for _, u := range landings {
			fmt.Fprintf(&refspecs, "%s:%s\n", u.New, u.Ref)
			commits = append(commits, u.New)
		}
		missions = append(missions, landings)
	}
	if len(commits) == 0 {
		return nil
	}
	quiet := *r
	quiet.Progress = nil // git would say there that the host gives none of them
	err := fetchRefs(ctx, &quiet, source, refspecs.String())
	if err == nil || ctx.Err() != nil || keep.IsZero() {
		return err
	}
	if err := fetchKept(ctx, r, source, commits); err != nil {
		return err
	}
	return landKept(ctx, r, keep, missions)
}

// Bounds, as anybody who can push writes an index.
const (
	maxUnkept = 1000 // commits that are remembered as missing
	maxNamed  = 10   // missions that an error names
)

// landKept makes the landing refs of archived missions that are here now, and
// remembers which commits of the others are missing.
func landKept(ctx context.Context, r *remote.Remote, keep object.Hash, missions [][]git.Update) error {
	objects := r.Repo.Objects(ctx)
	defer objects.Close()
	var refs []git.Update
	var missing []string
	unkept := make(map[object.Hash]object.Hash)
	for _, landings := range missions {
		whole := true
		for _, u := range landings {
			if objects.Has(u.New) == nil {
				continue
			}
			if whole = false; len(unkept) < maxUnkept {
				unkept[u.New] = keep
			}
		}
		if whole {
			refs = append(refs, landings...)
		} else {
			missing = append(missing, path.Base(landings[0].Ref))
		}
	}
	err := r.Repo.UpdateRefs(ctx, "archived at "+r.Name, refs)
	if more := len(missing) - maxNamed; more > 0 {
		missing = append(missing[:maxNamed], fmt.Sprintf("and %d more", more))
	}
	if len(missing) > 0 {
		err = errors.Join(err, fmt.Errorf("the archive of %s lacks what its index says of missions: %s", r.Name, strings.Join(missing, ", ")),
			r.Learn(ctx, func(l *remote.Learned) {
				maps.DeleteFunc(l.Unkept, func(_, at object.Hash) bool { return at != keep })
				if len(unkept)+len(l.Unkept) <= maxUnkept {
					maps.Copy(unkept, l.Unkept)
				}
				l.Unkept = unkept
			}))
	}
	return err
}

// landingsOf returns the landing refs of an archived mission.
func landingsOf(r *remote.Remote, into string, e ledger.ArchiveEntry) (refs []git.Update) {
	for namespace, hash := range map[string]object.Hash{remote.LedgerRefs: e.Ledger, remote.NoteRefs: e.Notes, r.Branches(): e.Branch} {
		if !hash.IsZero() {
			refs = append(refs, git.Update{Ref: landingOf(r, into, namespace) + string(e.ID), New: hash})
		}
	}
	return refs
}

// Archive returns the index of a source's archive without what was purged. It
// fetches the archive unless that is here as there has it, with stem for what
// keeps it, and updates there. ours is the index of our archive.
func Archive(ctx context.Context, r *remote.Remote, source string, there map[string]object.Hash, stem, ours object.Hash) (tip object.Hash, err error) {
	seen, err := r.Repo.Refs(ctx, seenIndex(r), seenKeep(r))
	if err == nil && (seen[seenIndex(r)] != there[ledger.ArchiveRef] || seen[seenKeep(r)] != stem) {
		err = seeing(ctx, r, func(f *fetch) error { return f.fetchArchive(ctx, source, there) })
	}
	if err != nil {
		return tip, err
	}
	return withoutPurged(ctx, r, source, there, ours)
}

// fetchArchive fetches a source's archive and updates there, as what arrives
// may be newer. The caller holds the lock of seeing.
func (f *fetch) fetchArchive(ctx context.Context, source string, there map[string]object.Hash) error {
	refspecs, keeps := "+"+ledger.ArchiveRef+":"+seenIndex(f.Remote)+"\n", !there[ledger.ArchiveKeepRef].IsZero()
	if keeps {
		refspecs += "+" + ledger.ArchiveKeepRef + ":" + seenKeep(f.Remote) + "\n"
	}
	if err := fetchRefs(ctx, f.Remote, source, refspecs); err != nil {
		return err
	}
	got, err := f.Repo.Refs(ctx, seenIndex(f.Remote), seenKeep(f.Remote))
	if err != nil {
		return err
	}
	if there[ledger.ArchiveRef] = got[seenIndex(f.Remote)]; !keeps {
		return nil
	}
	there[ledger.ArchiveKeepRef] = got[seenKeep(f.Remote)]
	stem, err := stem(ctx, f.Remote, got[seenKeep(f.Remote)])
	if err != nil {
		return err
	}
	return f.move(ctx, []git.Update{{Ref: seenKeep(f.Remote), New: stem, Old: got[seenKeep(f.Remote)]}})
}

// purgeSeen applies news of purges, also to missions that are here only as the
// remote's archive had them, since a push united it with ours. there are the
// remote's refs. An error, as of an archive that a stranger has spoiled, prevents
// nothing else.
func (f *fetch) purgeSeen(ctx context.Context, from string, there map[string]object.Hash) ([]Change, error) {
	refs, err := f.Repo.Refs(ctx, seenIndex(f.Remote), seenKeep(f.Remote), ledger.ArchiveRef, purgemap.Ref)
	if err != nil || refs[seenKeep(f.Remote)].IsZero() || there[purgemap.Ref] == refs[purgemap.Ref] {
		return nil, err
	}
	into, _, err := bring(ctx, f.Remote, from, []source{purges})
	if err != nil {
		return nil, err
	}
	var changes []Change
	_, landed, err := land(ctx, f.Remote, into, refs[seenIndex(f.Remote)], refs[ledger.ArchiveRef])
	if err == nil && len(landed) > 0 {
		var applied *applied
		if applied, _, err = f.apply(ctx, from, into, there, true); err == nil {
			changes = applied.changes()
		}
	}
	if err = errors.Join(err, f.clear(ctx)); err != nil {
		err = fmt.Errorf("purge what the archive of %s has brought here: %w", f.Name, err)
	}
	return changes, err
}

// withoutPurged applies purges to a source's archive and returns its new tip.
// It skips entries that ours shares: purges were applied to them.
func withoutPurged(ctx context.Context, r *remote.Remote, source string, there map[string]object.Hash, ours object.Hash) (tip object.Hash, err error) {
	theirs := there[ledger.ArchiveRef]
	known, err := r.Repo.Refs(ctx, purgemap.Ref)
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
// otherwise. An index may name notes and branches that are nowhere: they are left
// out, as a purge must reach what is here.
func land(ctx context.Context, r *remote.Remote, into string, theirs, ours object.Hash) (all map[record.ID]ledger.ArchiveEntry, landed []record.ID, err error) {
	objects := r.Repo.Objects(ctx)
	defer objects.Close()
	x, err := ledger.OpenArchive(objects, theirs)
	if err != nil {
		return nil, nil, err
	}
	y, err := ledger.OpenArchive(objects, ours)
	if err != nil {
		return nil, nil, err
	}
	all = make(map[record.ID]ledger.ArchiveEntry)
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
		refs = append(refs, slices.DeleteFunc(landingsOf(r, into, e), func(u git.Update) bool { return objects.Has(u.New) != nil })...)
	}
	return all, landed, r.Repo.UpdateRefs(ctx, "archived at "+r.Name, refs)
}

// anew writes an archive whose landed missions are as a purge left them. The
// old archive's objects may be gone.
func anew(ctx context.Context, r *remote.Remote, all map[record.ID]ledger.ArchiveEntry, landed []record.ID, applied *applied, arrived map[record.ID]remote.Tips) (object.Hash, error) {
	memory, err := scrub.ReadMemory(r.Workspace.Store.Dir())
	if err != nil {
		return object.Hash{}, err
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
			e.ID, e.Ledger, e.Notes, e.Branch = id, t.Ledger, t.Notes, t.Branch
			all[e.ID] = e
		}
	}
	objects := r.Repo.Objects(ctx)
	defer objects.Close()
	index, err := ledger.OpenArchive(objects, object.Hash{})
	if err == nil {
		index, err = index.With(all)
	}
	if err == nil {
		err = objects.Flush()
	}
	if err != nil {
		return object.Hash{}, err
	}
	return index.Tip, nil
}

// stem writes what a local ref stores of a keeping commit, see
// [ledger.ArchiveStem].
func stem(ctx context.Context, r *remote.Remote, keep object.Hash) (object.Hash, error) {
	objects := r.Repo.Objects(ctx)
	defer objects.Close()
	stem, err := ledger.ArchiveStem(objects, keep)
	if err == nil {
		err = objects.Flush()
	}
	return stem, err
}

// NoteArchive records what a push made of the remote's archive, to spare
// fetching it.
func NoteArchive(ctx context.Context, r *remote.Remote, updates []git.Update) error {
	refs, err := r.Repo.Refs(ctx, seenIndex(r), seenKeep(r))
	if err != nil {
		return err
	}
	var moves []git.Update
	for _, u := range updates {
		move := git.Update{New: u.New}
		switch u.Ref {
		case ledger.ArchiveRef:
			move.Ref = seenIndex(r)
		case ledger.ArchiveKeepRef:
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
