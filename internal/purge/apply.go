package purge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/archive"
	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/scrub"
	"gitagent/internal/sshsig"
	"gitagent/internal/trust"
	"gitagent/internal/workspace"
)

// An Apply applies a map to what is here and to what a fetch has just brought.
type Apply struct {
	*workspace.Workspace
	Map *Map // what is here and what was fetched, united
	// Landing is where a fetch has put missions/, notes/ and heads/.
	Landing string
	// There are the ledgers under refs of the remote, not in its archive alone.
	There []git.Hash
	// Accepted are missions whose purge a person accepts, whoever signed it.
	Accepted []record.ID
}

// An Applied is what a map has done.
type Applied struct {
	Result  *Result                   // nil if there was nothing to do
	Renamed map[record.ID]record.ID   // missions that a replaced commit names
	Changed map[record.ID]bool        // missions here that were rewritten, or went
	Held    map[record.ID]HeldBecause // missions here or just fetched that stay
}

// HeldBecause says why the map was not applied to a mission.
type HeldBecause struct {
	Unknown bool  // no trusted key has signed it
	Whole   bool  // no trusted key signed that it was removed, and no more is known
	Refused error // a pair did not prove itself
	Away    bool  // what takes its place is not here
	WentOn  bool  // it was removed elsewhere, and has gone on
}

// A line is a ledger, from its newest commit, with what it keeps.
type line struct {
	id      record.ID
	landed  bool
	besides bool // archived, of a mission that also has refs
	tip     git.Hash
	events  []git.Hash
	kept    []git.Hash
}

// Do applies the map. All refs move together, the landing's too, and the
// replaced objects go. It repeats until nothing changes: what was fetched may
// still have what was purged here, and only then can a pair prove itself.
func (a *Apply) Do(ctx context.Context) (*Applied, error) {
	done, err := a.once(ctx)
	for round := 1; err == nil && done.Result != nil && round < rounds; round++ {
		before := done
		if done, err = a.once(ctx); done.Result == nil {
			done.Result, round = before.Result, rounds
		}
		maps.Copy(done.Changed, before.Changed)
		for from, to := range before.Renamed {
			done.Renamed[from] = cmp.Or(done.Renamed[to], to)
		}
	}
	return done, err
}

func (a *Apply) once(ctx context.Context) (*Applied, error) {
	done := &Applied{Held: make(map[record.ID]HeldBecause), Changed: make(map[record.ID]bool), Renamed: make(map[record.ID]record.ID)}
	memory, err := scrub.ReadMemory(a.Store.Dir())
	if err != nil || a.Map.Empty() && !memory.Finds() {
		return done, err
	}
	objects := a.Repo.Objects(ctx)
	defer objects.Close()
	refs, err := a.Repo.Refs(ctx, MapRef)
	if err != nil {
		return done, err
	}
	here, err := ReadMap(objects, refs[MapRef])
	if err != nil {
		return done, err
	}
	a.Map.Unite(here)
	archived, err := a.archived(ctx, objects, len(a.Accepted) > 0 || !a.Map.Same(here))
	if err != nil {
		return done, err
	}
	list, there, err := a.lines(ctx, objects, archived)
	if err != nil {
		return done, err
	}
	known, gone, learned, err := a.pairing(objects, list, there, done).known(ctx)
	if err != nil {
		return done, err
	}
	if memory == nil && len(learned) > 0 {
		memory = new(scrub.Memory)
	}
	if memory != nil {
		memory.Add(learned...)
	}
	p := &Purge{Workspace: a.Workspace, Known: known, Landing: a.Landing, Map: a.Map, Target: Target{Missions: gone}}
	if memory.Finds() || len(learned) > 0 {
		p.Target.Finder = scrub.Or(fixed(learned), memory.Finder())
	}
	if len(known) == 0 && len(gone) == 0 {
		found, err := a.arrivedWith(ctx, objects, p.Target.Finder)
		if err != nil || !found {
			return done, err
		}
	}
	plan, err := p.Plan(ctx)
	if err != nil {
		return done, err
	}
	defer func() { plan.Close() }()
	for _, id := range plan.inArchive {
		done.Changed[id] = true
	}
	for _, u := range plan.updates {
		if id, err := record.ParseID(u.Ref[strings.LastIndexByte(u.Ref, '/')+1:]); err == nil && u.Ref == id.Ref() {
			done.Changed[id] = true
		}
	}
	if len(learned) > 0 { // first, as a turn recorded after the refs moved may have it again
		if err := memory.Write(a.Store.Dir()); err != nil {
			return done, fmt.Errorf("remember what is purged: %w", err)
		}
	}
	if done.Result, err = plan.Execute(ctx); err != nil {
		return done, err
	}
	maps.Copy(done.Renamed, plan.renamed)
	return done, nil
}

func fixed(learned [][]byte) *scrub.Finder {
	all := new(scrub.Finder)
	for _, text := range learned[:min(len(learned), 50)] {
		if f, err := scrub.Fixed(text); err == nil {
			all = scrub.Or(all, f)
		}
	}
	return all
}

// archived returns the archived ledgers to which the map may apply. Without
// news only their tips are looked at, as the known map was applied before.
func (a *Apply) archived(ctx context.Context, objects *git.Objects, news bool) (list []*line, err error) {
	refs, err := a.Repo.Refs(ctx, archive.IndexRef)
	if err != nil || len(refs) == 0 || a.Map.Empty() {
		return nil, err
	}
	tip, err := archive.Tip(refs)
	if err != nil {
		return nil, err
	}
	index, err := archive.Open(objects, tip)
	if err != nil {
		return nil, err
	}
	all := a.Map.classes(func(sshsig.Public) bool { return true })
	for e, err := range index.All() {
		if err != nil {
			return nil, err
		}
		if tip := e.Ledger; !e.Gone() && (news || all[mask(tip)] != nil) && objects.Has(tip) == nil {
			list = append(list, &line{id: e.ID, tip: tip})
		}
	}
	return list, nil
}

// lines reads the ledgers here, the fetched, and those of There that are here.
func (a *Apply) lines(ctx context.Context, objects *git.Objects, archived []*line) (list, there []*line, err error) {
	here, err := a.Repo.Refs(ctx, "refs/agent/missions/")
	if err != nil {
		return nil, nil, err
	}
	if a.Landing != "" {
		landed, err := a.Repo.Refs(ctx, a.Landing+"missions/")
		if err != nil {
			return nil, nil, err
		}
		maps.Copy(here, landed)
	}
	for _, ref := range slices.Sorted(maps.Keys(here)) {
		id, err := record.ParseID(ref[strings.LastIndexByte(ref, '/')+1:])
		if err != nil {
			continue
		}
		list = append(list, &line{id: id, landed: ref != id.Ref(), tip: here[ref]})
	}
	for _, l := range archived {
		_, l.besides = here[l.id.Ref()]
		list = append(list, l)
	}
	for _, tip := range a.There {
		if objects.Has(tip) == nil {
			there = append(there, &line{tip: tip})
		}
	}
	return list, there, a.walk(ctx, slices.Concat(list, there))
}

func (a *Apply) walk(ctx context.Context, list []*line) error {
	tips := make([]git.Hash, len(list))
	for i, l := range list {
		tips[i] = l.tip
	}
	events := make(map[git.Hash]*ledger.CommitEvent)
	for e, err := range ledger.Links(ctx, a.Repo, tips...) {
		if err != nil {
			return err
		}
		events[e.Hash] = e
	}
	for _, l := range list {
		for e := events[l.tip]; e != nil; e = events[e.Before] {
			l.events, l.kept = append(l.events, e.Hash), append(l.kept, e.Keeps...)
		}
	}
	return nil
}

// arrivedWith reports whether anything fetched has what was purged here.
func (a *Apply) arrivedWith(ctx context.Context, objects *git.Objects, finder *scrub.Finder) (bool, error) {
	if a.Landing == "" || finder == nil {
		return false, nil
	}
	refs, err := a.Repo.Refs(ctx, a.Landing)
	if err != nil || len(refs) == 0 {
		return false, err
	}
	var tips strings.Builder
	for _, h := range refs {
		fmt.Fprintln(&tips, a.Repo.Format().Text(h))
	}
	out, err := a.Repo.Output(ctx, strings.NewReader(tips.String()), "rev-list", "--objects", "--no-object-names", "--stdin",
		"--not", "--glob=refs/heads", "--glob=refs/agent/missions", "--glob=refs/notes/agent")
	if err != nil {
		return false, err
	}
	var list []git.Wanted
	for text := range strings.Lines(string(out)) {
		list = append(list, git.Wanted{Hash: git.NewHash(strings.TrimSpace(text)), Most: maxText})
	}
	found := false
	err = objects.Each(list, func(_ int, obj *git.Object, err error) error {
		if err != nil {
			return ctx.Err()
		}
		if found = obj.Type != plumbing.TreeObject && len(finder.Spans(obj.Content)) > 0; found {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return found, err
}

// more returns further ledgers: archived ones beside refs, and fetched ones.
func (p *Plan) more(ctx context.Context) (list []Chain, err error) {
	for _, id := range slices.Sorted(maps.Keys(p.besides)) {
		tip := p.besides[id].Ledger
		s, err := p.TrustLevel(ctx, p.objects, id, tip)
		if err != nil {
			return nil, err
		}
		list = append(list, Chain{ID: id, Tip: tip, Usable: s.Commit})
	}
	if p.Landing == "" {
		return list, nil
	}
	for _, ref := range slices.Sorted(maps.Keys(p.refs)) {
		name, ok := strings.CutPrefix(ref, p.Landing+"missions/")
		id, err := record.ParseID(name)
		if !ok || err != nil {
			continue
		}
		s, err := p.TrustLevel(ctx, p.objects, id, p.refs[ref])
		if err != nil {
			return nil, err
		}
		list = append(list, Chain{ID: id, Tip: p.refs[ref], Usable: s.Commit})
	}
	return list, nil
}

// landedMove returns what a ref of the landing becomes.
func (p *Plan) landedMove(ctx context.Context, ref string, tip git.Hash) (git.Hash, error) {
	name, ok := strings.CutPrefix(ref, p.Landing+"notes/")
	if id, err := record.ParseID(name); ok && err == nil {
		if mission, here := p.refs[p.Landing+"missions/"+name]; here && p.rewrite.Successor(mission).IsZero() {
			return git.Hash{}, nil
		}
		return p.rewrite.Notes(ctx, id, tip)
	}
	return p.rewrite.Successor(tip), nil
}

// mapMove returns the move of the map with all that the plan replaces. Without
// a key nothing is added, as no clone would believe it.
func (p *Plan) mapMove() (*git.Update, error) {
	before := p.refs[MapRef]
	m, err := ReadMap(p.objects, before)
	if err != nil {
		return nil, err
	}
	if p.Map != nil {
		m.Unite(p.Map)
	}
	if key := p.rewrite.Key; key != nil {
		listed := m.classes(func(sshsig.Public) bool { return true })
		pairs := make(map[git.Hash]git.Hash)
		for from, to := range p.rewrite.done {
			if c := listed[mask(from)]; from != to && (c == nil || !c.is[to]) {
				pairs[from] = to
			}
		}
		m.Add(*key, pairs)
	}
	now, err := m.Write(p.objects, trusts(p.Workspace))
	if err != nil || now == before {
		return nil, err
	}
	return &git.Update{Ref: MapRef, New: now, Old: before}, nil
}

// carried returns up to which commits ledgers may be relied on, as proved,
// after a map replaced their commits with others'.
func (p *Plan) carried(ctx context.Context) (map[record.ID]git.Hash, error) {
	all := make(map[record.ID]git.Hash)
	for _, c := range p.chains {
		to, ok := p.Known[c.Usable]
		if !ok || to.IsZero() {
			continue
		}
		id := c.ID
		if name, ok := p.renamed[id]; ok {
			id = name
		}
		s, err := p.Trust.Of(ctx, p.Repo, p.objects, id, to)
		if err != nil {
			return nil, err
		}
		if s.Commit != to {
			all[id] = to
		}
	}
	return all, nil
}

// Replaces reports whether any of some commits is replaced.
func (m *Map) Replaces(list []git.Hash) bool {
	listed := m.classes(func(sshsig.Public) bool { return true })
	return slices.ContainsFunc(list, func(h git.Hash) bool {
		c := listed[mask(h)]
		return c != nil && !c.is[h]
	})
}

func trusts(w *workspace.Workspace) func(sshsig.Public) bool {
	keys := w.Trust.Keys()
	return func(by sshsig.Public) bool { return keys.Name(by) != trust.Unknown }
}

// Learn unites the map of a repository with another one.
func (m *Map) Learn(ctx context.Context, w *workspace.Workspace) error {
	return git.Retry(git.ErrConflict, func() error { return m.learnOnce(ctx, w) })
}

func (m *Map) learnOnce(ctx context.Context, w *workspace.Workspace) error {
	refs, err := w.Repo.Refs(ctx, MapRef)
	if err != nil {
		return err
	}
	objects := w.Repo.Objects(ctx)
	defer objects.Close()
	all, err := ReadMap(objects, refs[MapRef])
	if err != nil {
		return err
	}
	all.Unite(m)
	now, err := all.Write(objects, trusts(w))
	if err != nil || now == refs[MapRef] {
		return err
	}
	if err := objects.Flush(); err != nil {
		return err
	}
	return w.Repo.UpdateRefs(ctx, "agent: what others have purged", []git.Update{{Ref: MapRef, New: now, Old: refs[MapRef]}})
}
