package remote

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gitagent/internal/archive"
	"gitagent/internal/git"
	"gitagent/internal/purge"
	"gitagent/internal/purgemap"
	"gitagent/internal/record"
)

const agentRefs = "refs/agent/"

// purges is that map, if the remote has one.
var purges = source{agentRefs, "purges*"}

// A HeldError reports a mission that was purged elsewhere and stays here.
type HeldError struct {
	Mission record.ID
	purgemap.HeldBecause
	remote string
}

func (e *HeldError) Error() string {
	why := ""
	switch {
	case e.WentOn:
		why = "as a whole, and has gone on here"
	case e.Away:
		why = "and what takes its place is not there"
	case e.Unknown:
		why = "without a key that you trust"
	case e.Whole:
		why = "as a whole without a key that you trust"
	default:
		return fmt.Sprintf("mission %s: what %s says was purged of it is refused: %v", e.Mission, e.remote, e.Refused)
	}
	return fmt.Sprintf("mission %s: it was purged at %s %s; nothing was changed", e.Mission, e.remote, why)
}

func (e *HeldError) Unwrap() error { return e.Refused }

// A KeptError reports that something of the user's own, which only they may
// change, still has what was purged elsewhere.
type KeptError struct {
	Stays  []purge.Stay
	remote string
}

func (e *KeptError) Error() string {
	const most = 3
	var names []string
	for _, s := range e.Stays[:min(len(e.Stays), most)] {
		names = append(names, cmp.Or(s.Ref, s.Path))
	}
	if n := len(e.Stays) - most; n > 0 {
		names = append(names, fmt.Sprintf("%d more", n))
	}
	return fmt.Sprintf("what was purged at %s stays in what is yours: %s", e.remote, strings.Join(names, ", "))
}

type applied struct {
	*purge.Applied
	remote string
	unread error // why the map there could not be read
}

// apply applies others' purges to what is here and to what was fetched, before
// any of it becomes a mission: it may come from a clone that does not know of
// the purge. there are the remote's refs. Unless whole says that everything was
// fetched, it is fetched from source where needed.
func (f *fetch) apply(ctx context.Context, source, into string, there map[string]git.Hash, whole bool) (*applied, map[record.ID]tips, error) {
	done := &applied{remote: f.Name, Applied: new(purge.Applied)}
	refs, err := f.repo.Refs(ctx, purgemap.Ref, landingOf(f.Remote, into, agentRefs))
	if err != nil {
		return nil, nil, err
	}
	objects := f.repo.Objects(ctx)
	defer objects.Close()
	known, err := purgemap.Read(objects, refs[purgemap.Ref])
	if err != nil {
		return nil, nil, err
	}
	theirs, bad := purgemap.Read(objects, refs[landingOf(f.Remote, into, agentRefs)+"purges"])
	if bad != nil { // anybody who can push can spoil it, which must not prevent fetches and pushes
		done.unread = fmt.Errorf("%s: %w", f.Name, bad)
	}
	known.Unite(theirs)
	a := &purge.Apply{Workspace: f.w, Map: known, Landing: into, Accepted: f.AcceptPurges}
	for _, t := range f.missions(there) {
		if !t.ledger.IsZero() {
			a.There = append(a.There, t.ledger)
		}
	}
	if done.Applied, err = a.Do(ctx); err != nil {
		return nil, nil, err
	}
	if away(done.Held) { // replacements of missions may be there without having been asked for
		if !whole {
			if into, _, err = bring(ctx, f.Remote, source, append(allRefs(f.Remote, "*"), purges)); err != nil {
				return nil, nil, err
			}
		}
		if err := bringPurged(ctx, f.Remote, source, known, done.Held); err != nil { // it stays away, and is reported
			done.unread = errors.Join(done.unread, fmt.Errorf("%s: %w", f.Name, err))
		}
		a.Landing = into
		if done.Applied, err = a.Do(ctx); err != nil {
			return nil, nil, err
		}
	}
	if err := theirs.Learn(ctx, f.w.Repo, f.w.Trust.Keys().Trusts); err != nil {
		return nil, nil, err
	}
	arrived, err := landed(ctx, f.Remote, into)
	return done, done.rename(arrived), err
}

// bringPurged fetches objects of missions' replacements from a source's
// archive.
func bringPurged(ctx context.Context, r *Remote, source string, known *purgemap.Map, held map[record.ID]purgemap.HeldBecause) error {
	there, err := r.refs(ctx, source)
	if err != nil {
		return err
	}
	tip, err := See(ctx, r, source, there)
	if err != nil {
		return err
	}
	objects := r.repo.Objects(ctx)
	defer objects.Close()
	index, err := archive.Open(objects, tip)
	if err != nil {
		return err
	}
	ends := known.Ends()
	var list []archive.Entry
	for e := range index.All() { // unreadable entries stay away
		if !e.Gone() && (held[e.ID].Away || ends[e.Ledger]) && objects.Has(e.Ledger) != nil {
			list = append(list, e)
		}
	}
	return bringArchived(ctx, r, source, landings(r)+rand.Text()+"/", list)
}

func away(held map[record.ID]purgemap.HeldBecause) bool {
	for _, why := range held {
		if why.Away {
			return true
		}
	}
	return false
}

// rename gives missions that a replaced commit names their new names.
func (a *applied) rename(arrived map[record.ID]tips) map[record.ID]tips {
	named := make(map[record.ID]tips, len(arrived))
	for id, t := range arrived {
		if to, ok := a.Renamed[id]; ok {
			id = to
		}
		named[id] = t
	}
	return named
}

// let leaves out what is held, but for missions whose removal alone is not
// believed.
func (a *applied) let(arrived map[record.ID]tips) map[record.ID]tips {
	rest := maps.Clone(arrived)
	for id, why := range a.Held {
		if why != (purgemap.HeldBecause{Whole: true}) {
			delete(rest, id)
		}
	}
	return rest
}

func (a *applied) changes() (list []Change) {
	for _, id := range slices.Sorted(maps.Keys(a.Changed)) {
		list = append(list, Change{Mission: id, Kind: Purged})
	}
	return list
}

func (a *applied) held() (all []error) {
	if a.unread != nil {
		all = append(all, a.unread)
	}
	if a.Result != nil && len(a.Result.Stays) > 0 {
		all = append(all, &KeptError{a.Result.Stays, a.remote})
	}
	for _, id := range slices.Sorted(maps.Keys(a.Held)) {
		all = append(all, &HeldError{Mission: id, HeldBecause: a.Held[id], remote: a.remote})
	}
	return all
}

// A Replaced is the outcome of [Remote.PushPurges].
type Replaced struct {
	Refs     []string // that have new values there, or are gone
	Branches []string // that the remote refused to change: they still lead to what was purged
	Changes  []Change // here, as of a fetch
	Held     []error  // each a [*HeldError], a [*KeptError], or why a map could not be read
}

// PushPurges replaces what was purged here at the remote, and sends the map for
// other clones. It fetches everything first, so that no turns are lost, and
// replaces a ref only if it still is what was fetched. Branches go apart, as a
// host may refuse to rewrite them. Errors are as of [Remote.Push].
//
// The host keeps the objects until its gc, for anybody who knows their hashes.
// Other clones, and forks at the host, stay as they are until they fetch.
func PushPurges(ctx context.Context, r *Remote) (*Replaced, error) {
	if r.Level == "" {
		return nil, fmt.Errorf("push to %s: %w", r.Name, ErrNoConsent)
	}
	held, err := r.lock(ctx, "push")
	if err != nil {
		return nil, err
	}
	defer held.Release()
	all := new(Replaced)
	for _, source := range r.sources {
		for range maxRounds { // the archive may tell more about missions that have refs
			before := len(all.Refs)
			err := replace(ctx, r, source, all)
			if err == nil && r.Level == All {
				err = replaceArchive(ctx, r, source, all)
			}
			if err != nil {
				return all, fmt.Errorf("purge at %s: %w", r.Name, err)
			}
			if len(all.Refs) == before {
				break
			}
		}
	}
	slices.Sort(all.Refs)
	all.Refs = slices.Compact(all.Refs)
	return all, errors.Join(all.Held...)
}

const maxRounds = 4

// clean replaces what a source with a map has, as a clone that knows no maps
// may have pushed what was purged. It reports whether anything changed, there
// or here. On an error the mission must not be pushed. The caller holds the
// lock of pushes.
func clean(ctx context.Context, r *Remote, source string, id record.ID) (bool, error) {
	there, err := r.refs(ctx, source)
	if err != nil || there[purgemap.Ref].IsZero() {
		return false, err
	}
	all := new(Replaced)
	err = replace(ctx, r, source, all)
	for _, held := range all.Held {
		if h := (*HeldError)(nil); errors.As(held, &h) && h.Mission == id && h.HeldBecause != (purgemap.HeldBecause{Whole: true}) {
			err = errors.Join(err, held)
		}
	}
	return len(all.Refs)+len(all.Changes) > 0, err
}

// upToDate applies others' purges before a push, and returns the source's refs.
func upToDate(ctx context.Context, r *Remote, source string, there map[string]git.Hash) (map[string]git.Hash, error) {
	known, err := r.repo.Refs(ctx, purgemap.Ref)
	if err != nil || there[purgemap.Ref].IsZero() || there[purgemap.Ref] == known[purgemap.Ref] {
		return there, err
	}
	if err := replace(ctx, r, source, new(Replaced)); err != nil {
		return nil, err
	}
	return r.refs(ctx, source)
}

// replace is PushPurges for one source.
func replace(ctx context.Context, r *Remote, source string, all *Replaced) error {
	return git.Retry(ErrRejected, func() error { // if another push was faster, its turns are fetched first
		done, err := Everything(ctx, r, source)
		all.Changes = append(all.Changes, done.Changes...)
		if done.Applied {
			all.Held = append(all.Held[:0], done.Held...)
		}
		records, branches := replacements(r, done)
		if err == nil && r.Level == All {
			err = force(ctx, r, source, records, all)
		}
		if err == nil {
			forceBranches(ctx, r, source, branches, all)
		}
		return err
	})
}

func replaceArchive(ctx context.Context, r *Remote, source string, all *Replaced) error {
	there, err := r.refs(ctx, source)
	if err != nil || there[archive.IndexRef].IsZero() {
		return err
	}
	done := new(SentArchive)
	if err = pushArchive(ctx, r, source, done); err == nil && done.Sent {
		all.Refs = append(all.Refs, archive.IndexRef, archive.KeepRef)
	}
	return err
}

// A Fetched is all missions of a source, merged here without what was purged.
type Fetched struct {
	Before, Now map[string]git.Hash // the source's refs, with what was purged and without
	Map         git.Hash            // of purges, as it is here now
	Renamed     map[record.ID]record.ID
	Changes     []Change // here
	Applied     bool     // the map was applied, so that Held is known
	Held        []error  // see [Replaced]
}

// Everything merges all missions of a source without what was purged. An error
// comes with what was done before it.
func Everything(ctx context.Context, r *Remote, source string) (*Fetched, error) {
	done := new(Fetched)
	return done, alone(ctx, r, func(f *fetch) error {
		if err := f.clear(ctx); err != nil {
			return err
		}
		into, _, err := bring(ctx, f.Remote, source, append(allRefs(f.Remote, "*"), purges))
		if err != nil {
			return err
		}
		refs, err := f.repo.Refs(ctx, into)
		if err != nil {
			return err
		}
		before := original(f.Remote, into, refs)
		applied, arrived, err := f.apply(ctx, source, into, before, true)
		if err != nil {
			return err
		}
		if refs, err = f.repo.Refs(ctx, into); err != nil {
			return err
		}
		known, err := f.repo.Refs(ctx, purgemap.Ref)
		if err != nil {
			return err
		}
		done.Before, done.Now, done.Map, done.Renamed = before, original(f.Remote, into, refs), known[purgemap.Ref], applied.Renamed
		changes, err := f.merge(ctx, applied.let(arrived), nil)
		done.Changes = append(applied.changes(), changes...)
		done.Applied, done.Held = true, applied.held()
		return err
	})
}

// replacements returns the updates that turn a source's refs into what they are
// without what was purged, with new names and our map. Branches are apart.
func replacements(r *Remote, done *Fetched) (records, branches []git.Update) {
	before := done.Before
	for ref, was := range before {
		if ref == purgemap.Ref {
			continue
		}
		name, is := renamed(r, ref, done.Renamed), done.Now[ref]
		list := &records
		if _, branch := r.w.MissionOf(ref); branch {
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
	if was := before[purgemap.Ref]; done.Map != was && !done.Map.IsZero() {
		records = append(records, git.Update{Ref: purgemap.Ref, Old: was, New: done.Map})
	}
	return records, branches
}

func renamed(r *Remote, ref string, names map[record.ID]record.ID) string {
	for from, to := range names {
		for _, pair := range [][2]string{{from.Ref(), to.Ref()}, {from.NotesRef(), to.NotesRef()}, {r.w.Branch(from), r.w.Branch(to)}} {
			if ref == pair[0] {
				return pair[1]
			}
		}
	}
	return ref
}

// force replaces refs, all or none. If one is not what was fetched, the error
// wraps [ErrRejected].
func force(ctx context.Context, r *Remote, source string, updates []git.Update, all *Replaced) error {
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
	options := r.pushOptions()
	if len(updates) > 1 && !lacking(r.remember().NoAtomic) {
		options = append(options, "--atomic")
	}
	out, reached, err := r.reach(ctx, "push", slices.Concat(options, args, []string{"--end-of-options", source}, specs)...)
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

// forceBranches replaces branches one by one. One that the host does not
// rewrite is deleted and created again.
func forceBranches(ctx context.Context, r *Remote, source string, updates []git.Update, all *Replaced) {
	for _, u := range updates {
		err := force(ctx, r, source, []git.Update{u}, all)
		if err != nil && !u.Old.IsZero() && !u.New.IsZero() {
			if err = force(ctx, r, source, []git.Update{{Ref: u.Ref, Old: u.Old}}, new(Replaced)); err == nil {
				err = force(ctx, r, source, []git.Update{{Ref: u.Ref, New: u.New}}, all)
			}
		}
		if err != nil {
			all.Branches = append(all.Branches, u.Ref)
		}
	}
}
