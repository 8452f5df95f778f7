package purge

import (
	"context"
	"maps"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/objectpurge"
)

// unlost spares the files and trees of the user's unreachable commits, which
// may still be wanted, unless they descend from a commit that goes.
func (p *Plan) unlost(ctx context.Context, goes, commits map[object.Hash]bool) error {
	leading, err := objectpurge.FindReferrers(ctx, p.Repo, goes)
	if err != nil {
		return err
	}
	after := maps.Clone(commits) // what comes after one of them
	var follows func(h object.Hash) bool
	follows = func(h object.Hash) bool {
		if is, known := after[h]; known || !leading.Has(h) {
			return is
		}
		after[h] = false
		c, err := p.objects.Commit(h)
		if err != nil {
			return false
		}
		for _, parent := range c.Parents {
			after[h] = after[h] || follows(parent)
		}
		return after[h]
	}
	var lost []object.Hash
	for h := range leading.Without(nil) {
		if goes[h] {
			continue
		}
		c, err := p.objects.Commit(h)
		if err == nil && !p.made(c) && !follows(h) {
			lost = append(lost, h)
		}
	}
	if len(lost) == 0 {
		return nil
	}
	rest := leading.Without([]objectpurge.Root{{Hashes: lost}})
	maps.DeleteFunc(goes, func(h object.Hash, _ bool) bool { return !rest[h] })
	return nil
}

// made reports whether we made a commit: of a state, a ledger or notes.
func (p *Plan) made(c *object.Commit) bool {
	if _, ours := ledger.ReadCodeMessage(c.Message); ours || strings.HasPrefix(c.Message, "mission ") || c.Message == "merge notes\n" {
		return true
	}
	entries, err := p.objects.Tree(c.Tree, git.MaxTree)
	return err == nil && entries["mission.json"].Mode.IsFile()
}
