package purge

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/purgemap"
	"gitagent/internal/record"
	"gitagent/internal/scrub"
	"gitagent/internal/workspace"
)

// Complete ends a purge that was killed, or returns nil if there is none. It
// also rewrites what was recorded since with replaced commits or known secrets.
func Complete(ctx context.Context, w *workspace.Workspace) (*Result, error) {
	if !Unfinished(w.Store) {
		return nil, nil
	}
	held, err := hold(ctx, w)
	if err != nil {
		return nil, err
	}
	defer held.release()
	j, err := readJournal(w.Store)
	if err != nil || j == nil { // the other process was not dead, and has ended
		return nil, err
	}
	var done *Result
	p, err := remembered(w, j.Beside)
	if err == nil {
		err = git.Retry(git.ErrConflict, func() error { // dead processes may have left locks
			done, err = j.complete(ctx, *p, held)
			return err
		})
	}
	if err != nil {
		return nil, fmt.Errorf("complete a purge that was begun: %w", err)
	}
	held.release()
	if err := forget(ctx, w, j.Removed); err != nil {
		return nil, err
	}
	if err = p.search(ctx, done); err != nil || done.Searched == nil || len(done.Searched.Found) == 0 {
		return done, err
	}
	plan, err := p.Plan(ctx) // a running session may have repeated it after another purge
	if err != nil {
		return nil, err
	}
	defer plan.Close()
	return plan.Execute(ctx)
}

// remembered returns a purge of what the clone remembers.
func remembered(w *workspace.Workspace, beside []string) (*Purge, error) {
	p := &Purge{Workspace: w, Beside: beside}
	m, err := scrub.ReadMemory(w.Store.Dir())
	if m.Finds() {
		p.Target.Finder = m.Finder()
	}
	return p, err
}

// forget drops the sessions of removed missions. Their locks must be free.
func forget(ctx context.Context, w *workspace.Workspace, missions []record.ID) error {
	for _, id := range missions {
		if err := w.Store.Forget(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// collected forgets successors that `git gc` took because no ref had moved to
// them. What the clone remembers is rewritten again; the rest is said to stay.
func (j *worklist) collected(objects *git.Objects) {
	gone := func(h object.Hash) bool { return !h.IsZero() && objects.Has(h) != nil }
	maps.DeleteFunc(j.Replaced, func(_ string, to object.Hash) bool { return gone(to) })
	maps.DeleteFunc(j.Own, func(_ record.ID, tip object.Hash) bool { return gone(tip) })
	j.Index = slices.DeleteFunc(j.Index, func(c indexChange) bool {
		what, _, _ := strings.Cut(c.Line, "\t")
		_, hash, _ := strings.Cut(what, " ")
		h, err := object.ParseHash(hash)
		return err == nil && gone(h)
	})
}

// complete ends the purge of the list, with what the clone remembers: a turn in
// between may have repeated it.
func (j *worklist) complete(ctx context.Context, of Purge, held *holder) (*Result, error) {
	w := of.Workspace
	of.Target.Missions = j.Removed
	p := &Plan{Purge: &of, objects: w.Repo.Objects(ctx)}
	defer p.Close()
	j.collected(p.objects)
	for _, r := range j.Refs {
		if r.Ref == purgemap.Ref && p.objects.Has(r.New) == nil { // it may have fetched pairs of others
			m, err := purgemap.Read(p.objects, r.New)
			if err != nil {
				return nil, err
			}
			p.Map = m
		}
	}
	p.renamed = j.Renamed
	known := make(map[object.Hash]object.Hash)
	for from, to := range j.Replaced {
		known[object.NewHash(from)] = to
	}
	if err := p.rewriteAll(ctx, nil, known); err != nil {
		return nil, err
	}
	p.index, p.doomed = j.Index, make(map[object.Hash]bool)
	for from := range p.rewrite.Replaced() {
		p.doomed[from] = true
	}
	for _, h := range j.Doomed {
		p.doomed[h] = true
	}
	if err := p.objects.Flush(); err != nil {
		return nil, err
	}
	now := p.worklist()
	maps.Copy(now.Own, j.Own)
	for from, to := range j.Replaced {
		now.Replaced[from] = to
	}
	for _, r := range j.Pushed {
		if !slices.ContainsFunc(now.Pushed, func(n refMove) bool { return n.Ref == r.Ref }) {
			now.Pushed = append(now.Pushed, r)
		}
	}
	if err := now.write(w.Store); err != nil {
		return nil, err
	}
	return now.finish(ctx, w, held)
}
