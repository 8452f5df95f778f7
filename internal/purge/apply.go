package purge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/purgemap"
	"gitagent/internal/purgerewrite"
	"gitagent/internal/record"
	"gitagent/internal/scrub"
	"gitagent/internal/workspace"
)

// An Apply applies a map to what is here and to what a fetch has just brought.
type Apply struct {
	*workspace.Workspace
	Map *purgemap.Map // what is here and what was fetched, united
	// Landing is where a fetch has put missions/, notes/ and heads/.
	Landing string
	// There are the ledgers under refs of the remote, not in its archive alone.
	There []object.Hash
	// Brought says that the remote was searched for replacements, too.
	Brought bool
	// Accepted are missions whose purge a person accepts, whoever signed it, and
	// however much it is.
	Accepted []record.ID
	From     string // the remote, to tell where it was purged
}

// An Applied is what a map has done.
type Applied struct {
	Result  *Result                            // nil if there was nothing to do
	Renamed map[record.ID]record.ID            // missions that a replaced commit names
	Changed map[record.ID]bool                 // missions here that were rewritten, or went
	Held    map[record.ID]purgemap.HeldBecause // missions here or just fetched that stay
	Waiting []Held                             // of these, those about which a person has to decide
	Fresh   []Held                             // of these, those that did not wait before, or of which more is asked
	Freed   []record.ID                        // missions that wait no longer
}

// Do applies the map. All refs move together, the landing's too, and the
// replaced objects go. It repeats until nothing changes: what was fetched may
// still have what was purged here, and only then can a pair prove itself.
func (a *Apply) Do(ctx context.Context) (*Applied, error) {
	done, err := a.once(ctx)
	for round := 1; err == nil && done.Result != nil && round < maxApplied; round++ {
		before := done
		if done, err = a.once(ctx); done.Result == nil {
			done.Result, round = before.Result, maxApplied
		}
		maps.Copy(done.Changed, before.Changed)
		for from, to := range before.Renamed {
			done.Renamed[from] = cmp.Or(done.Renamed[to], to)
		}
		done.Fresh, done.Freed = append(before.Fresh, done.Fresh...), append(before.Freed, done.Freed...)
	}
	return done, err
}

// maxApplied bounds how often a map is applied.
const maxApplied = 4

func (a *Apply) once(ctx context.Context) (*Applied, error) {
	done := &Applied{Held: make(map[record.ID]purgemap.HeldBecause), Changed: make(map[record.ID]bool), Renamed: make(map[record.ID]record.ID)}
	memory, err := scrub.ReadMemory(a.Store.Dir())
	if err != nil || a.Map.Empty() && !memory.Finds() {
		return done, err
	}
	objects := a.Repo.Objects(ctx)
	defer objects.Close()
	refs, err := a.Repo.Refs(ctx, purgemap.Ref)
	if err != nil {
		return done, err
	}
	here, err := purgemap.Read(objects, refs[purgemap.Ref])
	if err != nil {
		return done, err
	}
	a.Map.Unite(here)
	m := &purgemap.Matching{
		Repo: a.Repo, Objects: objects, Map: a.Map, Counts: a.Trust.Keys().Trusts,
		Landing: a.Landing, There: a.There, Brought: a.Brought, Accepted: a.Accepted,
	}
	before := readUnasked(a.Store, time.Now())
	m.Unasked = before.Taken
	if key := a.Trust.Keys().Own; key != nil {
		m.Own = key.Public()
	}
	found, err := m.Find(ctx, len(a.Accepted) > 0 || !a.Map.Same(here))
	if err != nil {
		return done, err
	}
	done.Held, done.Waiting = found.Held, a.waiting(found)
	if done.Fresh, err = a.note(ctx, done.Waiting); err != nil {
		return done, err
	}
	learned := found.Learned
	if memory == nil && len(learned) > 0 {
		memory = new(scrub.Memory)
	}
	if memory != nil {
		memory.Add(learned...)
	}
	p := &Purge{Workspace: a.Workspace, Known: found.Known, Landing: a.Landing, Map: a.Map, Given: found.Files, Agreed: found.Agreed, Target: purgerewrite.Target{Missions: found.Gone}}
	if memory.Finds() || len(learned) > 0 {
		p.Target.Finder = scrub.Or(fixed(learned), memory.Finder(inFull(learned)...))
	}
	p.Target.Turns, p.Lacks = found.Lacks.Turns, found.Lacks.Paths
	if len(found.Known) == 0 && len(found.Gone) == 0 && len(found.Lacks.Turns)+len(found.Lacks.Paths) == 0 {
		arrived, err := a.arrivedWith(ctx, objects, p.Target.Finder)
		if err != nil {
			return done, err
		}
		if !arrived {
			return done, a.release(ctx, done, found.Looked)
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
	if found.Unasked.Texts > before.Taken.Texts {
		before.Taken = found.Unasked
		if err := before.write(a.Store); err != nil {
			return done, err
		}
	}
	maps.Copy(done.Renamed, plan.renamed)
	return done, a.release(ctx, done, found.Looked)
}

// inFull returns as many texts as are worth a look at each content.
func inFull(learned [][]byte) [][]byte { return learned[:min(len(learned), 50)] }

func fixed(learned [][]byte) *scrub.Finder {
	all := new(scrub.Finder)
	for _, text := range inFull(learned) {
		if f, err := scrub.Fixed(text); err == nil {
			all = scrub.Or(all, f)
		}
	}
	return all
}

var errFound = errors.New("found")

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
		list = append(list, git.Wanted{Hash: object.NewHash(strings.TrimSpace(text)), Most: purgerewrite.MaxText})
	}
	found := false
	err = objects.Each(list, func(_ int, obj *git.Object, err error) error {
		if err != nil {
			return ctx.Err()
		}
		if found = obj.Type != plumbing.TreeObject && len(finder.Spans(obj.Content)) > 0; found {
			return errFound
		}
		return nil
	})
	if errors.Is(err, errFound) {
		err = nil
	}
	return found, err
}
