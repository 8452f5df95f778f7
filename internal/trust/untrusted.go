package trust

import (
	"context"
	"maps"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
)

// Untrusted returns those of some missions, given with the tips of their
// ledgers, of which nothing may be relied on as their first event does not
// count: nothing is known here about the mission, and no trusted key has signed
// that event. It reads one commit of each, however long they are, and leaves
// the others to [Trust.Of]. If git can't tell where they begin, it names none.
func (t *Trust) Untrusted(ctx context.Context, repo *git.Repo, objects *git.Objects, tips map[record.ID]object.Hash) (map[record.ID]bool, error) {
	unknown := maps.Clone(tips)
	for _, id := range t.Missions() {
		delete(unknown, id)
	}
	first := make(map[object.Hash]object.Hash) // of the ledger that an event is of
	var events []*ledger.CommitEvent
	for e, err := range ledger.Links(ctx, repo, slices.Collect(maps.Values(unknown))...) {
		if err != nil {
			return nil, ctx.Err()
		}
		events = append(events, e)
	}
	var firsts []git.Wanted
	for _, e := range slices.Backward(events) { // an event comes before its predecessor
		begin, ok := first[e.Before]
		if !ok {
			begin = e.Hash
			firsts = append(firsts, git.Wanted{Hash: begin, Most: maxCommit})
		}
		first[e.Hash] = begin
	}
	foreign := make(map[object.Hash]bool)
	err := objects.Each(firsts, func(i int, obj *git.Object, err error) error {
		if err != nil || obj.Type != plumbing.CommitObject {
			return nil
		}
		c, err := object.ParseCommit(obj.Content)
		if err == nil && len(c.Parents) == 0 { // it is no boundary of a shallow clone
			s, signed := ledger.ParseSigned(obj.Content)
			foreign[firsts[i].Hash] = !signed || !t.Keys().Trusts(s.By)
		}
		return nil
	})
	untrusted := make(map[record.ID]bool)
	for id, tip := range unknown {
		if foreign[first[tip]] {
			untrusted[id] = true
		}
	}
	return untrusted, err
}
