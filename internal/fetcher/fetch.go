package fetcher

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/purgemap"
	"gitagent/internal/record"
	"gitagent/internal/remote"
	"gitagent/internal/statedir"
)

// Fetch brings the named missions with their branches, or all that have
// something which is missing here; see [Change]. It creates a branch only for a
// named mission. The error tells of missions that are not there or can't be
// read; the others are fetched.
func Fetch(ctx context.Context, r *remote.Remote, ids ...record.ID) ([]Change, error) {
	var changes []Change
	err := alone(ctx, r, func(f *fetch) error {
		err := f.goOn(ctx)
		if err == nil {
			changes, err = f.update(ctx, ids)
		}
		return err
	})
	if err != nil {
		return changes, fmt.Errorf("fetch from %s: %w", r.Name, err)
	}
	return changes, nil
}

// A fetch is one that is under way: what it brings and what it moves is under
// its lock.
type fetch struct {
	*remote.Remote
	held *statedir.Lock
}

// alone runs do under the lock of fetches, noting where git may leave locks.
func alone(ctx context.Context, r *remote.Remote, do func(f *fetch) error) error {
	held, err := r.Lock(ctx, "fetch")
	if err != nil {
		return err
	}
	defer held.Release()
	return held.With(noteLandings(r), func() error { return do(&fetch{r, held}) })
}

func noteLandings(r *remote.Remote) statedir.Note {
	landings := filepath.Join(r.Repo.RefsDir(), filepath.FromSlash(landings(r))) + "/"
	return statedir.Note{Words: append(r.Repo.TableLists(), landings), Long: true}
}

func (f *fetch) update(ctx context.Context, ids []record.ID) ([]Change, error) {
	there, err := f.Refs(ctx, f.Name)
	if err != nil {
		return nil, err
	}
	known, err := f.Repo.Refs(ctx, purgemap.Ref)
	if err != nil {
		return nil, err
	}
	seen, unpurged := f.purgeSeen(ctx, f.Name, there)
	archived, err := ArchiveIndex(ctx, f.Remote, f.Name, there)
	if err != nil {
		return nil, err
	}
	theirs := f.Missions(there)
	if err := f.forgetNowhere(ctx, theirs, archived); err != nil {
		return nil, err
	}
	var sources []source
	wanted := ids
	if len(ids) > 0 {
		for _, id := range ids {
			sources = append(sources, allRefs(f.Remote, string(id)+"*")...)
		}
	} else {
		ours, err := f.Local(ctx, "")
		if err != nil {
			return nil, err
		}
		rest, err := withoutResting(ctx, f.Remote, theirs)
		if err != nil {
			return nil, err
		}
		sources = news(f.Remote, rest, ours)
		wanted = slices.Collect(maps.Keys(theirs))
		for id := range f.ByMission(ours) { // it may have gone on, and have been archived
			wanted = append(wanted, id)
		}
	}
	alone, besides, unread := archivedOf(ctx, f.Remote, archived, wanted, theirs, len(ids) > 0)
	unread = errors.Join(unread, unpurged)
	if len(sources)+len(alone)+len(besides)+len(f.AcceptPurges) == 0 && there[purgemap.Ref] == known[purgemap.Ref] {
		return nil, errors.Join(unread, f.stillHeld(), f.seen(ctx, there))
	}
	into, _, err := bring(ctx, f.Remote, f.Name, append(sources, purges))
	if err != nil {
		return seen, err
	}
	unread = errors.Join(unread, bringArchived(ctx, f.Remote, f.Name, into, there, alone))
	changes, found, err := f.take(ctx, into, there, ids)
	if len(besides) > 0 {
		into = landings(f.Remote) + rand.Text() + "/"
		bad := bringArchived(ctx, f.Remote, f.Name, into, there, besides)
		if bad == nil {
			var more []Change
			more, _, bad = f.take(ctx, into, there, ids)
			changes = append(changes, more...)
		}
		err = errors.Join(err, bad)
	}
	changes, err = append(seen, changes...), errors.Join(err, unread)
	for _, id := range ids {
		if !found[id] && !slices.ContainsFunc(seen, func(c Change) bool { return c.Mission == id }) {
			err = errors.Join(err, fmt.Errorf("mission %s: %w", id, git.ErrNotFound))
		}
	}
	return changes, err
}

// take makes what a fetch brought part of this repository. there are the
// remote's refs.
func (f *fetch) take(ctx context.Context, into string, there map[string]object.Hash, ids []record.ID) (changes []Change, found map[record.ID]bool, err error) {
	applied, arrived, err := f.apply(ctx, f.Name, into, there, false)
	if err != nil {
		return nil, nil, err
	}
	found = make(map[record.ID]bool)
	for id, t := range arrived {
		found[id] = !t.Ledger.IsZero()
	}
	for id := range applied.Changed { // it may have been there before, and be gone everywhere
		found[id] = true
	}
	news := applied.let(arrived)
	if len(ids) == 0 { // more may have come than was asked for
		if news, err = withoutResting(ctx, f.Remote, news); err != nil {
			return nil, nil, err
		}
	}
	changes, err = f.merge(ctx, news, ids)
	problems := append(applied.held(), err)
	if len(applied.again) > 0 {
		problems = append(problems, f.again(ctx, applied.again))
	} else if err == nil && !applied.dirty && len(ids) == 0 {
		problems = append(problems, f.seen(ctx, there))
	}
	return append(applied.changes(), changes...), found, errors.Join(problems...)
}

// withoutResting leaves out missions that are archived here as they are there,
// whose refs the next fetch would otherwise bring back.
func withoutResting(ctx context.Context, r *remote.Remote, theirs map[record.ID]remote.Tips) (map[record.ID]remote.Tips, error) {
	objects := r.Repo.Objects(ctx)
	defer objects.Close()
	index, err := archive(ctx, r.Repo, objects)
	if err != nil {
		return nil, err
	}
	rest := maps.Clone(theirs)
	for _, id := range slices.Sorted(maps.Keys(theirs)) {
		if e, ok, _ := index.Find(id); ok && rests(theirs[id], e) { // an unreadable part counts as nothing
			delete(rest, id)
		}
	}
	return rest, nil
}

// archive returns the index of our archive. A damaged one does not prevent a
// fetch, and counts as empty.
func archive(ctx context.Context, repo *git.Repo, objects *git.Objects) (*ledger.Archive, error) {
	refs, err := repo.Refs(ctx, ledger.ArchiveRef)
	if err != nil {
		return nil, err
	}
	index, err := ledger.OpenArchive(objects, refs[ledger.ArchiveRef])
	if git.Lost(err) {
		return ledger.OpenArchive(objects, object.Hash{})
	}
	return index, err
}

// rests reports whether an archive has a remote's mission, but for its branch.
func rests(theirs remote.Tips, e ledger.ArchiveEntry) bool {
	return theirs.Ledger == e.Ledger && (theirs.Notes.IsZero() || theirs.Notes == e.Notes)
}

// A source is refs to fetch: a namespace, and a name or pattern, which may
// match nothing.
type source struct{ namespace, name string }

// allRefs returns the refs of one mission, or of all that a pattern matches.
func allRefs(r *remote.Remote, name string) []source {
	return []source{{remote.LedgerRefs, name}, {remote.NoteRefs, name}, {r.Branches(), name}}
}

// landings returns where fetched refs stay until they are merged, apart from
// this repository's own. Each fetch has its own directory there, so leftovers
// of an earlier one are not taken for what it brought.
func landings(r *remote.Remote) string { return allLandings + remote.Escape(r.Name) + "/" }

// landingOf returns the place of a namespace in the directory of one fetch.
func landingOf(r *remote.Remote, into, namespace string) string {
	return into + map[string]string{remote.LedgerRefs: "missions/", remote.NoteRefs: "notes/", r.Branches(): "heads/", agentRefs: "map/"}[namespace]
}

func news(r *remote.Remote, theirs map[record.ID]remote.Tips, ours map[string]object.Hash) []source {
	have := make(map[object.Hash]bool, len(ours)+1)
	have[object.Hash{}] = true
	for _, hash := range ours {
		have[hash] = true
	}
	var sources []source
	for _, id := range slices.Sorted(maps.Keys(theirs)) {
		t := theirs[id]
		if t.Ledger.IsZero() { // a branch of that name without a mission
			continue
		}
		if have[t.Ledger] && have[t.Notes] && (have[t.Branch] || ours[r.Workspace.Branch(id)].IsZero()) {
			continue
		}
		sources = append(sources, source{remote.LedgerRefs, string(id)})
		if !t.Notes.IsZero() {
			sources = append(sources, source{remote.NoteRefs, string(id)})
		}
		if !t.Branch.IsZero() {
			sources = append(sources, source{r.Branches(), string(id)})
		}
	}
	if len(sources) > maxExact {
		return allRefs(r, "*")
	}
	return sources
}

// maxExact bounds the refs fetched by name; more are fetched by a pattern. Git
// compares every ref of the remote with every name: 20,000 take minutes.
const maxExact = 500

// bring fetches refs from a remote, given by name or URL, to a new landing. It
// never passes --depth, with which git would not advance a mission in a shallow
// clone. It fetches all blobs: they are many and small, and in a partial clone
// git would ask for each as it is read.
func bring(ctx context.Context, r *remote.Remote, from string, sources []source) (into string, arrived map[record.ID]remote.Tips, err error) {
	into = landings(r) + rand.Text() + "/"
	if err := bringInto(ctx, r, from, into, sources); err != nil {
		return into, nil, err
	}
	arrived, err = landed(ctx, r, into)
	return into, arrived, err
}

func bringInto(ctx context.Context, r *remote.Remote, from, into string, sources []source) error {
	var refspecs strings.Builder
	for _, s := range sources {
		fmt.Fprintf(&refspecs, "%s%s:%s%s\n", s.namespace, s.name, landingOf(r, into, s.namespace), s.name)
	}
	return fetchRefs(ctx, r, from, refspecs.String())
}

func fetchRefs(ctx context.Context, r *remote.Remote, from, refspecs string) error {
	_, err := r.Run(ctx, refspecs, "fetch", "--stdin", "--end-of-options", from)
	return err
}

// landed returns the missions that a fetch has brought.
func landed(ctx context.Context, r *remote.Remote, into string) (map[record.ID]remote.Tips, error) {
	refs, err := r.Repo.Refs(ctx, into)
	if err != nil {
		return nil, err
	}
	return r.ByMission(original(r, into, refs)), nil
}

// original returns the refs of a landing under their names at the remote.
func original(r *remote.Remote, into string, refs map[string]object.Hash) map[string]object.Hash {
	original := make(map[string]object.Hash, len(refs))
	for ref, hash := range refs {
		for _, namespace := range []string{remote.LedgerRefs, remote.NoteRefs, r.Branches(), agentRefs} {
			if name, ok := strings.CutPrefix(ref, landingOf(r, into, namespace)); ok {
				original[namespace+name] = hash
			}
		}
	}
	return original
}

// clear removes the landing refs of this and earlier, killed fetches, and an
// archive that one of these has left, without git, as only we write here. Packed
// refs stay if a killed git left its lock on packed-refs, which only the user may
// remove; see [Left].
func (f *fetch) clear(ctx context.Context) error {
	for _, dir := range []string{".", "logs"} { // including locks that killed gits left
		if err := os.RemoveAll(filepath.Join(f.Repo.RefsDir(), dir, filepath.FromSlash(landings(f.Remote)))); err != nil {
			return err
		}
	}
	for _, place := range f.Repo.Glob(placesOfKept(f.Remote)) {
		if err := os.RemoveAll(place); err != nil && !errors.Is(err, fs.ErrPermission) { // another user's, which [Left] names
			return err
		}
	}
	refs, err := f.Repo.Refs(ctx, landings(f.Remote))
	if err != nil {
		return err
	}
	if len(refs) > 0 && f.Repo.Locked(errLeft, "packed-refs") == errLeft {
		var updates []git.Update
		for ref, hash := range refs {
			updates = append(updates, git.Update{Ref: ref, Old: hash})
		}
		_ = f.move(ctx, updates)
	}
	return nil
}

var errLeft = errors.New("what was fetched is still there")

// Left reports what fetches could not remove, or nil. It is harmless, and the
// next fetch tries again. The error wraps a [*git.LockedError] for a lock.
func Left(ctx context.Context, r *remote.Remote) error {
	if places := r.Repo.Glob(placesOfKept(r)); len(places) > 0 {
		return fmt.Errorf("remove %s, which another user's fetch has left: %w", places[0], errLeft)
	}
	refs, err := r.Repo.Refs(ctx, landings(r))
	if err != nil || len(refs) == 0 {
		return err
	}
	return fmt.Errorf("remove %d refs below %s: %w", len(refs), landings(r), r.Repo.Locked(errLeft, "packed-refs"))
}

// Look fetches one mission from a remote, given by name or URL, to compare it,
// without what was purged. there are the remote's refs.
func Look(ctx context.Context, r *remote.Remote, from string, id record.ID, there map[string]object.Hash) (remote.Tips, error) {
	var found remote.Tips
	err := alone(ctx, r, func(f *fetch) error {
		into, arrived, err := bring(ctx, f.Remote, from, append(allRefs(f.Remote, string(id)+"*"), purges))
		if err == nil {
			_, arrived, err = f.apply(ctx, from, into, there, false)
		}
		if err != nil {
			return err
		}
		found = arrived[id]
		return f.clear(ctx)
	})
	return found, err
}
