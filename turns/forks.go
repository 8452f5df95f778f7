package turns

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
)

// Forks returns the missions forked at a turn or, with number 0, at any turn of
// that mission, by turn and age. It searches the large archive if it finds no
// live fork, or not the named one. The error says which missions can't be read.
func Forks(ctx context.Context, repo *git.Repo, of record.TurnID, named record.ID) ([]MissionLine, error) {
	lines, err := Missions(ctx, repo)
	forks := forksAt(lines, of)
	isNamed := func(l MissionLine) bool { return named == "" || l.ID == named }
	if err != nil && !errors.As(err, new(*ledger.UnreadError)) || slices.ContainsFunc(forks, isNamed) {
		return forks, err
	}
	entries, unread := ledger.ListArchived(ctx, repo)
	if len(entries) == 0 {
		return forks, cmp.Or(err, unread)
	}
	tips := make(map[record.ID]object.Hash, len(entries))
	for _, e := range entries {
		tips[e.ID] = e.Ledger
	}
	archived, wrong := Lines(ctx, repo, tips)
	return forksAt(append(lines, archived...), of), cmp.Or(err, unread, wrong)
}

func forksAt(lines []MissionLine, of record.TurnID) (forks []MissionLine) {
	for _, l := range lines {
		if p, err := PointOf(l.Mission); err == nil && p.Of.Mission == of.Mission && (of.Turn == 0 || p.Of == of) {
			forks = append(forks, l)
		}
	}
	slices.SortFunc(forks, MissionLine.ByBirth)
	return forks
}

// Siblings returns the other forks of a mission's fork point, oldest first.
func Siblings(lines []MissionLine, id record.ID) []MissionLine {
	i := slices.IndexFunc(lines, func(l MissionLine) bool { return l.ID == id })
	if i < 0 || !forked(lines[i].Mission) {
		return nil
	}
	var list []MissionLine
	for _, l := range lines {
		if l.ID != id && forked(l.Mission) && *l.ForkedFrom == *lines[i].ForkedFrom {
			list = append(list, l)
		}
	}
	slices.SortFunc(list, MissionLine.ByBirth)
	return list
}

// Together moves the forks of one turn to the first of them, oldest first.
func Together(list []MissionLine) []MissionLine {
	siblings := make(map[record.TurnID][]MissionLine)
	for _, l := range list {
		if forked(l.Mission) {
			siblings[*l.ForkedFrom] = append(siblings[*l.ForkedFrom], l)
		}
	}
	together := make([]MissionLine, 0, len(list))
	for _, l := range list {
		if !forked(l.Mission) {
			together = append(together, l)
			continue
		}
		of := *l.ForkedFrom
		slices.SortFunc(siblings[of], MissionLine.ByBirth)
		together = append(together, siblings[of]...)
		siblings[of] = nil
	}
	return together
}

// ByBirth compares forks of one mission, by turn and then by creation.
func (l MissionLine) ByBirth(other MissionLine) int {
	return cmp.Or(cmp.Compare(l.ForkedFrom.Turn, other.ForkedFrom.Turn), l.Created.Compare(other.Created), cmp.Compare(l.ID, other.ID))
}

// forked reports whether a mission was forked at a known turn.
func forked(m *record.Mission) bool { return m.ForkedFrom != nil && m.ForkedFrom.Turn > 0 }
