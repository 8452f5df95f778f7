package purge

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/record"
	"gitagent/internal/scrub"
	"gitagent/internal/workspace"
)

// Complete ends a purge that was killed; if there is none, the result is nil. What was recorded since on what
// the purge replaces, or says again what the clone remembers, is rewritten as well.
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
	err = git.Retry(git.ErrConflict, func() error { // there may be locks of the dead
		done, err = j.complete(ctx, w, held)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("complete a purge that was begun: %w", err)
	}
	held.release()
	if err := forget(ctx, w, j.Removed); err != nil {
		return nil, err
	}
	p, err := remembered(w, j.Beside)
	if err == nil {
		err = p.search(ctx, done)
	}
	if err != nil || done.Searched == nil || len(done.Searched.Found) == 0 {
		return done, err
	}
	plan, err := p.Plan(ctx) // a session that ran may have said it once more, after another purge
	if err != nil {
		return nil, err
	}
	defer plan.Close()
	return plan.Execute(ctx)
}

// remembered is a purge of what the clone remembers.
func remembered(w *workspace.Workspace, beside []string) (*Purge, error) {
	p := &Purge{Workspace: w, Beside: beside}
	m, err := scrub.ReadMemory(w.Store.Dir())
	if m.Finds() {
		p.Target.Finder = m.Finder()
	}
	return p, err
}

// forget drops the states of sessions that recorded to missions which are gone. Their locks must be free.
func forget(ctx context.Context, w *workspace.Workspace, missions []record.ID) error {
	for _, id := range missions {
		if err := w.Store.Forget(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// collected forgets successors that are not here: no ref had moved to them, and a `git gc` has taken them. What
// the clone remembers is rewritten anew; of the rest it is said that it stays.
func (j *journal) collected(objects *git.Objects) {
	gone := func(h git.Hash) bool { return !h.IsZero() && objects.Has(h) != nil }
	maps.DeleteFunc(j.Replaced, func(_ string, to git.Hash) bool { return gone(to) })
	maps.DeleteFunc(j.Own, func(_ record.ID, tip git.Hash) bool { return gone(tip) })
	j.Index = slices.DeleteFunc(j.Index, func(c indexChange) bool {
		what, _, _ := strings.Cut(c.Line, "\t")
		_, hash, _ := strings.Cut(what, " ")
		h, err := git.ParseHash(hash)
		return err == nil && gone(h)
	})
}

func (j *journal) complete(ctx context.Context, w *workspace.Workspace, held *holder) (*Result, error) {
	purge, err := remembered(w, j.Beside) // a turn that came in between may have said it again
	if err != nil {
		return nil, err
	}
	purge.Target.Missions = j.Removed
	p := &Plan{Purge: purge, objects: w.Repo.Objects(ctx)}
	defer p.Close()
	j.collected(p.objects)
	for _, r := range j.Refs {
		if r.Ref == MapRef && p.objects.Has(r.New) == nil { // it may be of others, who were fetched
			m, err := ReadMap(p.objects, r.New)
			if err != nil {
				return nil, err
			}
			p.Map = m
		}
	}
	p.renamed = j.Renamed
	known := make(map[git.Hash]git.Hash)
	for from, to := range j.Replaced {
		known[git.NewHash(from)] = to
	}
	if err := p.rewriteAll(ctx, nil, known); err != nil {
		return nil, err
	}
	p.index, p.doomed = j.Index, make(map[git.Hash]bool)
	for from := range p.rewrite.Replaced() {
		p.doomed[from] = true
	}
	for _, h := range j.Doomed {
		p.doomed[h] = true
	}
	if err := p.objects.Flush(); err != nil {
		return nil, err
	}
	now := p.journal()
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
