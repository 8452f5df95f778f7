package fetcher

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gitagent/internal/cmdline"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/purge"
	"gitagent/internal/purgemap"
	"gitagent/internal/record"
	"gitagent/internal/remote"
)

const agentRefs = "refs/agent/"

// purges is the map of purges, if the remote has one.
var purges = source{agentRefs, "purges*"}

// A HeldError reports a mission that was purged elsewhere and stays here.
type HeldError struct {
	Mission record.ID
	purgemap.HeldBecause
	// Asks is what a person has to decide about, if that is why.
	Asks   *purge.Held
	remote string
}

func (e *HeldError) Error() string {
	why := ""
	switch {
	case e.Asks != nil && !e.WentOn:
		return Asks(e.Asks) + "; nothing was changed"
	case e.WentOn:
		why = "as a whole, and has gone on here"
		if e.Asks != nil && len(e.Asks.By) > 0 {
			why = "by " + strings.Join(e.Asks.By, ", ") + " " + why
		}
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

// HeldIn returns the missions that an error says are held, each purge once.
func HeldIn(err error) (list []*HeldError) {
	switch e := err.(type) {
	case *HeldError:
		return []*HeldError{e}
	case interface{ Unwrap() []error }:
		for _, err := range e.Unwrap() {
			list = append(list, HeldIn(err)...)
		}
	case interface{ Unwrap() error }:
		return HeldIn(e.Unwrap())
	}
	return list
}

// Asks says in a line what others ask to be purged of missions.
func Asks(h *purge.Held) string {
	if h.Away {
		return fmt.Sprintf("mission %s was purged at %s, and what takes its place is not there", h.Mission, h.From)
	}
	var what []string
	for _, part := range []struct {
		n    int
		word string
	}{{h.Turns, "turn"}, {h.Files, "file"}} {
		if part.n > 0 {
			what = append(what, cmdline.Plural(part.n, part.word))
		}
	}
	switch {
	case h.Gone:
		what = []string{"all of it"}
		if h.Turns > 0 {
			what[0] += ", " + cmdline.Plural(h.Turns, "turn")
		}
	case h.Texts > 0:
		text := fmt.Sprintf("%s, %s of %s", cmdline.Plural(h.Texts, "different text"), cmdline.Size(h.Cut), cmdline.Size(h.Of))
		if h.Common > 0 {
			text += fmt.Sprintf(", which %s of HEAD have", cmdline.Plural(h.Common, "file"))
		}
		what = append(what, text)
	}
	if h.From == "" {
		return fmt.Sprintf("mission %s: others have purged it, and what is noted of that is damaged", h.Mission)
	}
	by := strings.Join(h.By, ", ")
	if by == "" {
		by = "somebody"
	}
	var names []string
	for _, id := range h.Missions {
		names = append(names, string(id))
	}
	return fmt.Sprintf("mission %s: %s has purged more of it at %s than goes here without a question: %s", strings.Join(names, ", "), by, h.From, strings.Join(what, "; "))
}

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
	unread error       // why the map there could not be read
	again  []record.ID // missions of which the remote has again what was purged
	dirty  bool        // something that was fetched was purged here
}

// apply applies others' purges to what is here and to what was fetched, before
// any of it becomes a mission: it may come from a clone that does not know of
// the purge. there are the remote's refs. Unless whole says that everything was
// fetched, it is fetched from source where needed.
func (f *fetch) apply(ctx context.Context, source, into string, there map[string]object.Hash, whole bool) (*applied, map[record.ID]remote.Tips, error) {
	done := &applied{remote: f.Name, Applied: new(purge.Applied)}
	refs, err := f.Repo.Refs(ctx, purgemap.Ref, landingOf(f.Remote, into, agentRefs))
	if err != nil {
		return nil, nil, err
	}
	objects := f.Repo.Objects(ctx)
	defer objects.Close()
	known, err := purgemap.Read(objects, refs[purgemap.Ref])
	if err != nil {
		return nil, nil, err
	}
	theirs, bad := purgemap.Read(objects, refs[landingOf(f.Remote, into, agentRefs)+"purges"])
	if bad != nil { // anybody who can push can spoil it, which must not prevent fetches and pushes
		done.unread = fmt.Errorf("%s: %w", f.Name, bad)
	}
	here, err := purgemap.Read(objects, refs[purgemap.Ref])
	if err != nil {
		return nil, nil, err
	}
	known.Unite(theirs)
	came, err := landed(ctx, f.Remote, into)
	if err != nil {
		return nil, nil, err
	}
	if err := f.beginnings(ctx, known, into, came); err != nil {
		return nil, nil, err
	}
	a := &purge.Apply{Workspace: f.Workspace, Map: known, Landing: into, Accepted: f.AcceptPurges, From: f.Name}
	for _, t := range f.Missions(there) {
		if !t.Ledger.IsZero() {
			a.There = append(a.There, t.Ledger)
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
		err := bringPurged(ctx, f.Remote, source, known, done.Held)
		if err != nil { // it stays away, and is reported
			done.unread = errors.Join(done.unread, fmt.Errorf("%s: %w", f.Name, err))
		}
		a.Landing, a.Brought = into, err == nil
		before := done.Applied
		if done.Applied, err = a.Do(ctx); err != nil {
			return nil, nil, err
		}
		done.Fresh, done.Freed = append(before.Fresh, done.Fresh...), append(before.Freed, done.Freed...)
	}
	if err := theirs.Learn(ctx, f.Workspace.Repo, f.Workspace.Trust.Keys().Trusts, f.move); err != nil {
		return nil, nil, err
	}
	arrived, err := landed(ctx, f.Remote, into)
	if done.dirty = !maps.Equal(came, arrived); err == nil {
		done.again, err = returned(ctx, f.Remote, here, came, arrived)
	}
	if err == nil {
		err = f.tellHeld(ctx, done.Fresh, done.Freed)
	}
	return done, done.rename(arrived), err
}

// beginnings adds to a map what came with only a beginning of a mission that the
// user has purged as a whole, unless something goes on from there.
func (f *fetch) beginnings(ctx context.Context, known *purgemap.Map, into string, came map[record.ID]remote.Tips) error {
	key := f.Workspace.Trust.Keys().Own
	if key == nil {
		return nil
	}
	var tips []object.Hash
	for _, t := range came {
		if !t.Ledger.IsZero() {
			tips = append(tips, t.Ledger)
		}
	}
	removed, err := purge.WasRemoved(f.Workspace.Store, tips)
	if err != nil || len(removed) == 0 {
		return err
	}
	pairs := make(map[object.Hash]object.Hash)
	for _, h := range removed {
		text := f.Repo.Format().Text(h)
		out, err := f.Repo.Output(ctx, nil, "for-each-ref", "--contains="+text, "--format=%(objectname)", remote.LedgerRefs, into+"missions/")
		if err != nil {
			return err
		}
		goesOn := slices.ContainsFunc(strings.Fields(string(out)), func(tip string) bool { return tip != text })
		if !goesOn && !known.Lists(h, f.Workspace.Trust.Keys().Trusts) {
			pairs[h] = object.Hash{}
		}
	}
	known.Add(*key, pairs)
	return nil
}

// tellHeld logs once what waits for a person, and queues what waits no longer.
func (f *fetch) tellHeld(ctx context.Context, fresh []purge.Held, freed []record.ID) error {
	told := make(map[string]bool)
	for _, h := range fresh {
		if text := Asks(&h); !told[text] {
			told[text] = true
			f.Say(text + "; it stays as it is, and is sent nowhere, until you decide: git agent-turn fetch " + f.Name)
		}
	}
	refs, err := f.Local(ctx, "")
	if err != nil {
		return err
	}
	ours := f.ByMission(refs)
	for _, id := range freed {
		for _, r := range f.Agreed() {
			if ours[id].Zero() {
				continue
			}
			if err := r.Later(id); err != nil {
				return err
			}
		}
	}
	return nil
}

// bringPurged fetches objects of missions' replacements from a source's
// archive.
func bringPurged(ctx context.Context, r *remote.Remote, source string, known *purgemap.Map, held map[record.ID]purgemap.HeldBecause) error {
	there, err := r.Refs(ctx, source)
	if err != nil {
		return err
	}
	tip, err := ArchiveIndex(ctx, r, source, there)
	if err != nil {
		return err
	}
	objects := r.Repo.Objects(ctx)
	defer objects.Close()
	index, err := ledger.OpenArchive(objects, tip)
	if err != nil {
		return err
	}
	ends := known.Ends()
	var list []ledger.ArchiveEntry
	for e := range index.All() { // unreadable entries stay away
		if !e.Gone() && (held[e.ID].Away || ends[e.Ledger]) && objects.Has(e.Ledger) != nil {
			list = append(list, e)
		}
	}
	return bringArchived(ctx, r, source, landings(r)+rand.Text()+"/", there, list)
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
func (a *applied) rename(arrived map[record.ID]remote.Tips) map[record.ID]remote.Tips {
	named := make(map[record.ID]remote.Tips, len(arrived))
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
func (a *applied) let(arrived map[record.ID]remote.Tips) map[record.ID]remote.Tips {
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
		if b := a.Held[id].Beyond; b != nil && b.Missions[0] != id {
			continue // it is named with the first one
		}
		e := &HeldError{Mission: id, HeldBecause: a.Held[id], remote: a.remote}
		if i := slices.IndexFunc(a.Waiting, func(h purge.Held) bool { return h.Mission == id && !h.Away }); i >= 0 {
			if e.Asks = &a.Waiting[i]; a.Waiting[i].Kept {
				continue
			}
		}
		all = append(all, e)
	}
	return all
}

// stillHeld returns what waits for a person, without asking the remote.
func (f *fetch) stillHeld() error {
	held, err := purge.AllHeld(f.Workspace.Store)
	problems := []error{err}
	for i := range held {
		if h := &held[i]; h.Here && !h.Away && !h.Kept && (h.From == f.Name || h.From == "") && h.Missions[0] == h.Mission {
			problems = append(problems, &HeldError{Mission: h.Mission, HeldBecause: purgemap.HeldBecause{WentOn: h.WentOn}, Asks: h, remote: f.Name})
		}
	}
	return errors.Join(problems...)
}

// forgetNowhere forgets what waits for a person of missions that are neither here
// nor at the remote any more, by refs or in the archive.
func (f *fetch) forgetNowhere(ctx context.Context, theirs map[record.ID]remote.Tips, archived object.Hash) error {
	held, err := purge.AllHeld(f.Workspace.Store)
	held = slices.DeleteFunc(held, func(h purge.Held) bool { return h.From != f.Name || !theirs[h.Mission].Zero() })
	if err != nil || len(held) == 0 {
		return err
	}
	refs, err := f.Repo.Refs(ctx, remote.LedgerRefs, ledger.ArchiveRef)
	if err != nil {
		return err
	}
	held = slices.DeleteFunc(held, func(h purge.Held) bool { return !refs[h.Mission.Ref()].IsZero() })
	objects := f.Repo.Objects(ctx)
	defer objects.Close()
	for _, tip := range []object.Hash{archived, refs[ledger.ArchiveRef]} {
		index, err := ledger.OpenArchive(objects, tip)
		if err != nil {
			return ctx.Err() // an unreadable one may have them
		}
		held = slices.DeleteFunc(held, func(h purge.Held) bool {
			_, there, err := index.Find(h.Mission)
			return there || err != nil
		})
	}
	for _, h := range held {
		if err := purge.Release(f.Workspace.Store, h.Mission); err != nil {
			return err
		}
	}
	return nil
}

// A Fetched is all missions of a source, merged here without what was purged.
type Fetched struct {
	Before, Now map[string]object.Hash // the source's refs, with what was purged and without
	Map         object.Hash            // of purges, as it is here now
	Renamed     map[record.ID]record.ID
	Changes     []Change    // here
	Again       []record.ID // of which the source had again what was purged
	Applied     bool        // the map was applied, and Held is known
	Held        []error     // each a [*HeldError], a [*KeptError], or why the map or the archive as it was seen could not be read
}

// Everything merges all missions of a source without what was purged. An error
// comes with what was done before it.
func Everything(ctx context.Context, r *remote.Remote, source string) (*Fetched, error) {
	done := new(Fetched)
	return done, alone(ctx, r, func(f *fetch) error {
		if err := f.goOn(ctx); err != nil {
			return err
		}
		there, err := f.Refs(ctx, source)
		if err != nil {
			return err
		}
		seen, unpurged := f.purgeSeen(ctx, source, there)
		done.Changes = seen
		into, _, err := bring(ctx, f.Remote, source, append(allRefs(f.Remote, "*"), purges))
		if err != nil {
			return err
		}
		refs, err := f.Repo.Refs(ctx, into)
		if err != nil {
			return err
		}
		before := original(f.Remote, into, refs)
		applied, arrived, err := f.apply(ctx, source, into, before, true)
		if err != nil {
			return err
		}
		if refs, err = f.Repo.Refs(ctx, into); err != nil {
			return err
		}
		known, err := f.Repo.Refs(ctx, purgemap.Ref)
		if err != nil {
			return err
		}
		done.Before, done.Now, done.Map, done.Renamed = before, original(f.Remote, into, refs), known[purgemap.Ref], applied.Renamed
		changes, err := f.merge(ctx, applied.let(arrived), nil)
		done.Changes = slices.Concat(seen, applied.changes(), changes)
		done.Applied, done.Again, done.Held = true, applied.again, applied.held()
		if unpurged != nil {
			done.Held = append(done.Held, unpurged)
		}
		return err
	})
}
