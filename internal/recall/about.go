package recall

import (
	"errors"
	"fmt"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/record"
)

// leaveElsewhere drops missions that this clone has neither written nor accepted,
// unless they, or what they were forked from, began on HEAD or before it: that
// somebody trusted signed them does not say that they are about this repository.
func (p *Past) leaveElsewhere(unsure map[record.ID]bool) error {
	if len(unsure) == 0 {
		return nil
	}
	head, err := p.w.Repo.Resolve(p.ctx, "HEAD")
	if err != nil && !errors.Is(err, git.ErrNotFound) {
		return err
	}
	beside := make(map[object.Hash]bool) // where missions began that HEAD's line lacks
	var ask strings.Builder
	fmt.Fprintf(&ask, "^%s\n", head)
	for id := range unsure {
		base := p.base(id)
		if beside[base] = head.IsZero() || p.objects.Has(base) != nil; !beside[base] {
			fmt.Fprintln(&ask, base)
		}
	}
	if !head.IsZero() {
		out, err := p.w.Repo.Output(p.ctx, strings.NewReader(ask.String()), "rev-list", "--stdin")
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(out)) {
			beside[object.NewHash(strings.TrimSpace(line))] = true
		}
	}
	for id := range unsure {
		if !p.begins(id, unsure, beside) {
			delete(p.ledgers, id)
		}
	}
	return nil
}

// begins reports whether a mission, or one that it comes from, is sure or began
// where HEAD's line has been.
func (p *Past) begins(id record.ID, unsure map[record.ID]bool, beside map[object.Hash]bool) bool {
	for range unsure {
		switch l := p.ledgers[id]; {
		case l == nil:
			return false
		case !unsure[id] || !beside[p.base(id)]:
			return true
		case l.Mission.ForkedFrom == nil:
			return false
		default:
			id = l.Mission.ForkedFrom.Mission
		}
	}
	return p.ledgers[id] != nil && !unsure[id] // forks of each other are none
}

// base returns HEAD as it was when a mission began; zero if there was none.
func (p *Past) base(id record.ID) object.Hash { return object.NewHash(p.ledgers[id].Mission.Base) }
