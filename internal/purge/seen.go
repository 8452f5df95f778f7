package purge

import (
	"context"
	"maps"

	"gitagent/internal/git/object"
	"gitagent/internal/objectpurge"
	"gitagent/internal/purgerewrite"
)

// A seen is what one search of all objects has found, before anything is
// rewritten: only what leads there has to be read again.
type seen struct {
	*objectpurge.Searched
	graph *objectpurge.Graph
	holds map[object.Hash]bool // which have it, or may
	whole bool                 // nothing is missing or damaged
}

// see searches all objects, if there is something to search for.
func (p *Plan) see(ctx context.Context) error {
	has := p.has()
	if has == nil {
		return nil
	}
	searched, err := objectpurge.Search(ctx, p.Repo, has)
	if err != nil {
		return err
	}
	s := &seen{Searched: searched, holds: make(map[object.Hash]bool)}
	for _, f := range searched.Found {
		if !f.Object.IsZero() {
			s.holds[f.Object] = true
		}
	}
	for _, h := range searched.Unsure {
		s.holds[h] = true
	}
	if s.graph, err = objectpurge.ReadGraph(ctx, p.Repo, s.holds); err != nil {
		return err
	}
	if conf, err := p.Repo.Config(ctx); err == nil && conf.Promisor() == "" { // a partial clone would fetch
		_, err = p.Repo.Output(ctx, nil, "rev-list", "--objects", "--all", "--quiet")
		s.whole = err == nil && len(searched.Unread) == 0
	}
	p.seen = s
	return ctx.Err()
}

// tells returns what a rewrite can leave unread, nil if it has to read all: for
// more than a text, for what a map replaces, and where not all is here, which
// it reports.
func (s *seen) tells(p *Purge) *purgerewrite.Seen {
	if s == nil || !s.whole || !p.Target.Finder.Anywhere() || len(p.Target.Turns) > 0 || len(p.Target.Paths.Specs) > 0 ||
		len(p.Known) > 0 || len(p.Given) > 0 || p.Map != nil || p.Landing != "" {
		return nil
	}
	leading := s.graph.Leading(s.holds)
	return &purgerewrite.Seen{Holds: func(h object.Hash) bool { return s.holds[h] }, Leads: leading.Has}
}

// leading returns what leads to all that goes: what is replaced, and what was
// found.
func (p *Plan) leading(ctx context.Context) (*objectpurge.Referrers, error) {
	if p.seen == nil {
		return objectpurge.FindReferrers(ctx, p.Repo, p.doomed)
	}
	for _, f := range p.seen.Found {
		if f.Object.IsZero() || f.Elsewhere {
			continue
		}
		p.doomed[f.Object] = true
		if f.Path != "" {
			continue // git does not read it there
		}
		if err := p.learn(f.Type, f.Object); err != nil {
			return nil, err
		}
	}
	leading := p.seen.graph.Leading(p.doomed)
	for h := range maps.Keys(p.doomed) {
		if !p.seen.graph.Knows(h) { // a blob, of which nothing told that it would go
			return objectpurge.FindReferrers(ctx, p.Repo, p.doomed)
		}
	}
	return leading, nil
}
