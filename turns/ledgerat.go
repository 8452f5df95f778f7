package turns

import (
	"cmp"
	"context"
	"fmt"
	"sort"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
)

// LedgerAt returns the mission's ledger as of the turn's end, or its start if
// before is set.
func (t *Turn) LedgerAt(ctx context.Context, repo *git.Repo, objects *git.Objects, before bool) (*ledger.Ledger, error) {
	mission := t.mission()
	tip, err := t.OpenLedger(ctx, repo, objects)
	if err != nil {
		return nil, err
	}
	want := t.Turn
	if before {
		want--
	}
	if last, err := tip.LastTurn(); err != nil || last == want {
		return tip, err
	}
	var events []object.Hash // the last turn's number never grows towards older ones
	for e, err := range ledger.Links(ctx, repo, tip.Tip) {
		if err != nil {
			return nil, err
		}
		events = append(events, e.Hash)
	}
	var found *ledger.Ledger
	i := sort.Search(len(events), func(i int) bool {
		last := 0
		l, e := ledger.At(objects, mission, events[i])
		if e == nil {
			last, e = l.LastTurn()
		}
		err = cmp.Or(e, err)
		if last == want {
			found = l
		}
		return last <= want
	})
	if err != nil {
		return nil, err
	}
	if found == nil || i == len(events) || events[i] != found.Tip {
		return nil, fmt.Errorf("the ledger has no event that ends with turn %d: %w", want, git.ErrNotFound)
	}
	return found, nil
}
