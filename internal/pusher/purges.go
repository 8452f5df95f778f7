package pusher

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"gitagent/internal/fetcher"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/purge"
	"gitagent/internal/purgemap"
	"gitagent/internal/record"
	"gitagent/internal/remote"
)

// A Replaced is the outcome of [PushPurges].
type Replaced struct {
	Refs     []string         // that have new values there, or are gone
	Branches []string         // that the remote refused to change: they still lead to what was purged
	Changes  []fetcher.Change // here, as of a fetch
	Held     []error          // each a [*fetcher.HeldError], a [*fetcher.KeptError], or why a map could not be read

	inWay error       // why the map is not sent: a [*git.InWayError], or nil
	lacks []record.ID // missions with purged commits of which the source has nothing
}

// PushPurges replaces what was purged here at the remote, and sends the map for
// other clones. It fetches everything first, so that no turns are lost, and
// replaces a ref only if it still is what was fetched. Branches go apart, as a
// host may refuse to rewrite them. Purged missions of which it has nothing go as
// with [PushAll]: other clones wait for what the map names. Errors are as of
// [Push], and wrap a [*git.InWayError] if there are refs of others' in the way
// of the map or the archive; all else is sent.
//
// The host keeps the objects until its gc, for anybody who knows their hashes.
// Other clones, and forks at the host, stay as they are until they fetch.
func PushPurges(ctx context.Context, r *remote.Remote) (*Replaced, error) {
	if r.Level == "" {
		return nil, fmt.Errorf("push to %s: %w", r, remote.ErrNoConsent)
	}
	all, err := pushPurges(ctx, r)
	if all == nil || len(all.lacks) == 0 || err != nil && !errors.As(err, new(*fetcher.HeldError)) {
		return all, err
	}
	sent, bad := PushAll(ctx, r, all.lacks)
	for _, p := range sent {
		if p.Sent {
			all.Refs = append(all.Refs, p.As.Ref())
		}
	}
	return all, errors.Join(err, bad)
}

func pushPurges(ctx context.Context, r *remote.Remote) (*Replaced, error) {
	held, err := r.LockPush(ctx, "")
	if err != nil {
		return nil, err
	}
	defer held.Release()
	all := new(Replaced)
	var archive error     // what is in its way
	for range maxRounds { // the archive may tell more about missions that have refs
		before := len(all.Refs)
		err := replace(ctx, r, all)
		if err == nil && r.Level == remote.All {
			if err = replaceArchive(ctx, r, all); errors.As(err, new(*git.InWayError)) {
				archive, err = err, nil
			}
		}
		if err != nil {
			return all, fmt.Errorf("purge at %s: %w", r, err)
		}
		if len(all.Refs) == before {
			break
		}
	}
	if r.Level == remote.All {
		if err := unkeep(ctx, r, all); err != nil {
			return all, fmt.Errorf("purge at %s: %w", r, err)
		}
	}
	slices.Sort(all.Refs)
	all.Refs = slices.Compact(all.Refs)
	return all, errors.Join(append(slices.Clone(all.Held), all.inWay, archive)...)
}

const maxRounds = 4

// unkeep deletes a source's keepers.
func unkeep(ctx context.Context, r *remote.Remote, all *Replaced) error {
	there, err := r.Keepers(ctx, r.Source)
	if err != nil {
		return err
	}
	var updates []git.Update
	for _, ref := range slices.Sorted(maps.Keys(there)) {
		updates = append(updates, git.Update{Ref: ref, Old: there[ref]})
	}
	return force(ctx, r, updates, all)
}

// clean applies others' purges, and replaces what a source has of what was
// purged: a clone that knows no maps may have pushed it, or the source have gone
// back to a backup. It reports whether anything changed, there or here, or the
// mission waits for a person. On an error the mission must not be pushed. The
// caller holds the lock of pushes.
func clean(ctx context.Context, r *remote.Remote, id record.ID) (bool, error) {
	there, err := r.Refs(ctx, r.Source)
	if err != nil {
		return false, err
	}
	if none, err := noMap(ctx, r, there); err != nil || none {
		return false, err
	}
	all := new(Replaced)
	err = replace(ctx, r, all)
	for _, id := range all.lacks {
		err = errors.Join(err, r.Later(id))
	}
	for _, held := range all.Held {
		h := (*fetcher.HeldError)(nil)
		if errors.As(held, &h) && h.Mission == id && !h.Waits() && h.HeldBecause != (purgemap.HeldBecause{Whole: true}) {
			err = errors.Join(err, held)
		}
	}
	return len(all.Refs)+len(all.Changes) > 0 || purge.IsHeld(r.Workspace.Store, id), err
}

// noMap reports whether nothing was purged, here or at a source with some refs.
func noMap(ctx context.Context, r *remote.Remote, there map[string]object.Hash) (bool, error) {
	if !there[purgemap.Ref].IsZero() {
		return false, nil
	}
	known, err := r.Repo.Refs(ctx, purgemap.Ref)
	return known[purgemap.Ref].IsZero() || r.Level != remote.All, err
}

// upToDate applies others' purges before a push, and returns the source's refs.
func upToDate(ctx context.Context, r *remote.Remote, there map[string]object.Hash) (map[string]object.Hash, error) {
	none, err := noMap(ctx, r, there)
	if err != nil || none {
		return there, err
	}
	known, err := r.Repo.Refs(ctx, purgemap.Ref)
	if err != nil || there[purgemap.Ref] == known[purgemap.Ref] && !unclean(r) {
		return there, err
	}
	if err := replace(ctx, r, new(Replaced)); err != nil {
		return nil, err
	}
	return r.Refs(ctx, r.Source)
}

// unclean reports whether the remote has again what was purged, or a purge that
// was killed is to be completed here.
func unclean(r *remote.Remote) bool {
	return r.Learned().Again || purge.Unfinished(r.Workspace.Store)
}

// guard returns options and a refspec with which git sends nothing, together
// with others and --atomic, unless the remote has the map that is here, or none
// if there is none here: otherwise what was purged there as a whole would be
// sent again, as new. All within one connection.
func guard(ctx context.Context, r *remote.Remote) (options, specs []string, err error) {
	known, err := r.Repo.Refs(ctx, purgemap.Ref)
	if err != nil {
		return nil, nil, err
	}
	if is := known[purgemap.Ref]; !is.IsZero() {
		return []string{"--force-with-lease=" + purgemap.Ref + ":" + is.String()}, []string{is.String() + ":" + purgemap.Ref}, nil
	}
	// A pattern without any ref here: --prune would delete what it matches there,
	// which the lease refuses if there is a map. It is as narrow as a pattern can
	// be, as * stands for any part of a name, and others may have such refs.
	const none, at = "refs/agent/none/*", "refs/agent/p*urges"
	return []string{"--prune", "--force-with-lease=" + purgemap.Ref + ":"}, []string{none + ":" + at}, nil
}

// replace is PushPurges for one source.
func replace(ctx context.Context, r *remote.Remote, all *Replaced) error {
	return git.Retry(ErrRejected, func() error { // if another push was faster, its turns are fetched first
		since := r.Learned().Clean
		done, err := fetcher.Everything(ctx, r, r.Source)
		all.Changes = append(all.Changes, done.Changes...)
		if done.Applied {
			all.Held = append(all.Held[:0], done.Held...)
		}
		records, branches := replacements(r, done)
		if all.inWay = nil; !done.Map.IsZero() {
			all.inWay = r.InWay(done.Before, purgemap.Ref)
		}
		if err == nil && r.Level == remote.All {
			if err = force(ctx, r, records, all); err == nil {
				err = forgetNames(ctx, r, records)
			}
		}
		stay := len(all.Branches)
		if err == nil {
			forceBranches(ctx, r, branches, all)
		}
		if err != nil || r.Level != remote.All || len(all.Branches) > stay {
			return err
		}
		if done.Map != done.Before[purgemap.Ref] {
			if all.lacks, err = unsent(ctx, r, done); err != nil {
				return err
			}
		}
		if len(done.Again) > 0 {
			err = r.WarnOf(ctx, (&fetcher.ReturnedError{Remote: r.String(), Missions: done.Again, Clean: since, Replaced: true}).Error())
		}
		return errors.Join(err, fetcher.Seen(ctx, r, done.Map))
	})
}

// unsent returns the missions here with purged commits of which a source that was
// sent the map has no ref.
func unsent(ctx context.Context, r *remote.Remote, done *fetcher.Fetched) (list []record.ID, err error) {
	refs, err := r.Local(ctx, "")
	if err != nil {
		return nil, err
	}
	known, ours, theirs := r.Learned(), r.ByMission(refs), r.Missions(done.Now)
	if err := archivedThere(ctx, r, done.Now, theirs, ours); err != nil {
		return nil, err
	}
	tips := make(map[record.ID]object.Hash)
	for id, t := range ours {
		if !t.Ledger.IsZero() && theirs[known.Name(id)].Ledger.IsZero() {
			tips[id] = t.Ledger
		}
	}
	events := make(map[object.Hash]*ledger.CommitEvent)
	for e, err := range ledger.Links(ctx, r.Repo, slices.Collect(maps.Values(tips))...) {
		if err != nil {
			return nil, err
		}
		events[e.Hash] = e
	}
	objects := r.Repo.Objects(ctx)
	defer objects.Close()
	m, err := purgemap.Read(objects, done.Map)
	if err != nil {
		return nil, err
	}
	ends := m.Ends()
	purged := func(e *ledger.CommitEvent) bool {
		return ends[e.Hash] || slices.ContainsFunc(e.Keeps, func(h object.Hash) bool { return ends[h] })
	}
	for _, id := range slices.Sorted(maps.Keys(tips)) {
		for e := events[tips[id]]; e != nil; e = events[e.Before] {
			if purged(e) {
				list = append(list, id)
				break
			}
		}
	}
	return list, nil
}

func replaceArchive(ctx context.Context, r *remote.Remote, all *Replaced) error {
	there, err := r.Refs(ctx, r.Source)
	if err != nil || there[ledger.ArchiveRef].IsZero() {
		return err
	}
	done := new(SentArchive)
	if err = pushArchive(ctx, r, done); err == nil && done.Sent {
		all.Refs = append(all.Refs, ledger.ArchiveRef, ledger.ArchiveKeepRef)
	}
	return err
}

// replacements returns the updates that turn a source's refs into what they are
// without what was purged, with new names and our map. Branches are apart.
func replacements(r *remote.Remote, done *fetcher.Fetched) (records, branches []git.Update) {
	before := done.Before
	for ref, was := range before {
		if ref == purgemap.Ref {
			continue
		}
		name, is := renamed(r, ref, done.Renamed), done.Now[ref]
		list := &records
		if _, branch := r.Workspace.MissionOf(ref); branch {
			list = &branches
		}
		switch {
		case name != ref:
			*list = append(*list, git.Update{Ref: ref, Old: was})
			if there, taken := before[name]; !taken || there != is {
				*list = append(*list, git.Update{Ref: name, Old: there, New: is})
			}
		case was != is:
			*list = append(*list, git.Update{Ref: ref, Old: was, New: is})
		}
	}
	if was := before[purgemap.Ref]; done.Map != was && !done.Map.IsZero() && r.InWay(before, purgemap.Ref) == nil {
		records = append(records, git.Update{Ref: purgemap.Ref, Old: was, New: done.Map})
	}
	return records, branches
}

func renamed(r *remote.Remote, ref string, names map[record.ID]record.ID) string {
	for from, to := range names {
		for _, pair := range [][2]string{{from.Ref(), to.Ref()}, {from.NotesRef(), to.NotesRef()}, {r.Workspace.Branch(from), r.Workspace.Branch(to)}} {
			if ref == pair[0] {
				return pair[1]
			}
		}
	}
	return ref
}

// force replaces refs, all or none. If one is not what was fetched, the error
// wraps [ErrRejected].
func force(ctx context.Context, r *remote.Remote, updates []git.Update, all *Replaced) error {
	if len(updates) == 0 {
		return nil
	}
	var args, specs []string
	for _, u := range updates {
		lease, spec := "", ""
		if !u.Old.IsZero() {
			lease = u.Old.String()
		}
		if !u.New.IsZero() {
			spec = u.New.String()
		}
		args = append(args, "--force-with-lease="+u.Ref+":"+lease)
		specs = append(specs, spec+":"+u.Ref)
	}
	var options []string
	if len(updates) > 1 && r.Learned().Atomic() {
		options = append(options, "--atomic")
	}
	out, reached, err := r.Reach(ctx, "push", slices.Concat(options, args, []string{"--end-of-options", r.Target}, specs)...)
	if err != nil && reached && len(parseReport(out).rejected) > 0 {
		return fmt.Errorf("%w: %w", ErrRejected, err)
	}
	if err == nil {
		for _, u := range updates {
			all.Refs = append(all.Refs, u.Ref)
		}
	}
	return err
}

// forgetNames forgets the names of missions that are there no more: what has one
// later is another part of the mission.
func forgetNames(ctx context.Context, r *remote.Remote, updates []git.Update) error {
	for id, as := range r.Learned().As {
		if !slices.ContainsFunc(updates, func(u git.Update) bool { return u.Ref == as.Ref() && u.New.IsZero() }) {
			continue
		}
		if err := r.LearnName(ctx, id, id); err != nil {
			return err
		}
	}
	return nil
}

// forceBranches replaces branches one by one. One that the host does not
// rewrite is deleted and created again.
func forceBranches(ctx context.Context, r *remote.Remote, updates []git.Update, all *Replaced) {
	for _, u := range updates {
		err := force(ctx, r, []git.Update{u}, all)
		if err != nil && !u.Old.IsZero() && !u.New.IsZero() {
			if err = force(ctx, r, []git.Update{{Ref: u.Ref, Old: u.Old}}, new(Replaced)); err == nil {
				err = force(ctx, r, []git.Update{{Ref: u.Ref, New: u.New}}, all)
			}
		}
		if err != nil {
			all.Branches = append(all.Branches, u.Ref)
		}
	}
}
