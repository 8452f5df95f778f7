package turns

import (
	"cmp"
	"slices"

	"gitagent/internal/ledger"
)

// Siblings returns the other forks of the turn that a mission is a fork of, the oldest first. One of which
// it is not known at which turn it was forked has none.
func Siblings(lines []Line, id ledger.ID) []Line {
	i := slices.IndexFunc(lines, func(l Line) bool { return l.ID == id })
	if i < 0 || !forked(lines[i].Mission) {
		return nil
	}
	var list []Line
	for _, l := range lines {
		if l.ID != id && forked(l.Mission) && *l.ForkedFrom == *lines[i].ForkedFrom {
			list = append(list, l)
		}
	}
	slices.SortFunc(list, func(a, b Line) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
	})
	return list
}

// forked reports whether a mission was forked at a turn that is known.
func forked(m *ledger.Mission) bool { return m.ForkedFrom != nil && m.ForkedFrom.Turn > 0 }
