package purge

import (
	"context"
	"maps"
	"slices"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/purgemap"
	"gitagent/internal/purgerewrite"
	"gitagent/internal/record"
)

// more returns further ledgers: archived ones beside refs, and fetched ones.
func (p *Plan) more(ctx context.Context) (list []purgerewrite.Chain, err error) {
	for _, id := range slices.Sorted(maps.Keys(p.besides)) {
		tip := p.besides[id].Ledger
		s, err := p.TrustLevel(ctx, p.objects, id, tip)
		if err != nil {
			return nil, err
		}
		list = append(list, purgerewrite.Chain{ID: id, Tip: tip, Usable: s.Commit})
	}
	if p.Landing == "" {
		return list, nil
	}
	for _, ref := range slices.Sorted(maps.Keys(p.refs)) {
		name, ok := strings.CutPrefix(ref, p.Landing+"missions/")
		id, err := record.ParseID(name)
		if to, known := p.Known[p.refs[ref]]; !ok || err != nil || known && to.IsZero() {
			continue // nothing takes the place of a mission that goes
		}
		s, err := p.TrustLevel(ctx, p.objects, id, p.refs[ref])
		if err != nil {
			return nil, err
		}
		list = append(list, purgerewrite.Chain{ID: id, Tip: p.refs[ref], Usable: s.Commit})
	}
	return list, nil
}

// landedMove returns what a ref of the landing becomes.
func (p *Plan) landedMove(ctx context.Context, ref string, tip object.Hash) (object.Hash, error) {
	kind, name, _ := strings.Cut(strings.TrimPrefix(ref, p.Landing), "/")
	if id, err := record.ParseID(name); err == nil && kind != "missions" {
		if mission, here := p.refs[p.Landing+"missions/"+name]; here && p.rewrite.Successor(mission).IsZero() {
			return object.Hash{}, nil
		}
		if kind == "notes" {
			return p.rewrite.Notes(ctx, id, tip)
		}
	}
	return p.rewrite.Successor(tip), nil
}

// mapMove returns the move of the map with all that the plan replaces. Without
// a key nothing is added, as no clone would believe it.
func (p *Plan) mapMove() (*git.Update, error) {
	before := p.refs[purgemap.Ref]
	m, err := purgemap.Read(p.objects, before)
	if err != nil {
		return nil, err
	}
	if p.Map != nil {
		m.Unite(p.Map)
	}
	if key := p.rewrite.Key; key != nil {
		pairs := m.Unlisted(p.rewrite.Commits())
		maps.Copy(pairs, p.Agreed)
		m.Add(*key, pairs)
	}
	now, err := m.Write(p.objects, p.Trust.Keys().Trusts)
	if err != nil || now == before {
		return nil, err
	}
	return &git.Update{Ref: purgemap.Ref, New: now, Old: before}, git.InWay(p.refs, purgemap.Ref)
}

// carried returns up to which commits ledgers may be relied on, as proved,
// after a map replaced their commits with others'.
func (p *Plan) carried(ctx context.Context) (map[record.ID]object.Hash, error) {
	all := make(map[record.ID]object.Hash)
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
