package turns

import (
	"errors"
	"slices"
	"testing"

	"gitagent/internal/git/object"
	"gitagent/internal/record"
)

// TestPointOf: what a fork's mission.json says, which anybody may have written, and of which turn it is.
func TestPointOf(t *testing.T) {
	t.Parallel()
	base := commitOf('b')
	fork := func(change func(m *record.Mission)) *record.Mission {
		m := &record.Mission{ID: "1e1e1e1e", Base: base.String(), ForkedFrom: &record.TurnID{Mission: "a1b2c3d4", Turn: 2}}
		change(m)
		return m
	}
	same := func(*record.Mission) {}
	for _, tt := range []struct {
		name    string
		m       *record.Mission
		of      record.ID // the mission of the turn that is adopted
		here    record.ID // HEAD is on its branch
		want    error
		isPoint bool
	}{
		{name: "a fork", m: fork(same), of: "1e1e1e1e", isPoint: true},
		{name: "where it was forked", m: fork(same), of: "1e1e1e1e", here: "a1b2c3d4", isPoint: true},
		{name: "of itself", m: fork(func(m *record.Mission) { m.ForkedFrom.Mission = m.ID }), of: "1e1e1e1e", isPoint: true},
		{name: "no fork", m: fork(func(m *record.Mission) { m.ForkedFrom = nil }), of: "1e1e1e1e", want: ErrNoFork},
		{name: "of no turn", m: fork(func(m *record.Mission) { m.ForkedFrom.Turn = 0 }), of: "1e1e1e1e", want: ErrNoFork},
		{name: "without a base", m: fork(func(m *record.Mission) { m.Base = "" }), of: "1e1e1e1e", want: ErrNoFork},
		{name: "with a name for a base", m: fork(func(m *record.Mission) { m.Base = "HEAD" }), of: "1e1e1e1e", want: ErrNoFork},
		{name: "with an option for a base", m: fork(func(m *record.Mission) { m.Base = "--output=x" }), of: "1e1e1e1e", want: ErrNoFork},
		{name: "with a short base", m: fork(func(m *record.Mission) { m.Base = m.Base[:12] }), of: "1e1e1e1e", want: ErrNoFork},
		{name: "inherited", m: fork(same), of: "a1b2c3d4", want: ErrInherited},
		{name: "its own worktree", m: fork(same), of: "1e1e1e1e", here: "1e1e1e1e", want: ErrOwnBranch},
		{name: "inherited, in its own worktree", m: fork(same), of: "a1b2c3d4", here: "1e1e1e1e", want: ErrOwnBranch},
		{name: "no fork, in its own worktree", m: fork(func(m *record.Mission) { m.ForkedFrom = nil }), of: "1e1e1e1e", here: "1e1e1e1e", want: ErrNoFork},
	} {
		point, err := pointOf(tt.m, &State{Turn: &Turn{Mission: tt.of, Turn: 3}}, tt.here)
		if !errors.Is(err, tt.want) || tt.isPoint && (point.Of != *tt.m.ForkedFrom || point.Commit != base) {
			t.Errorf("%s: %+v, %v; want %v", tt.name, point, err, tt.want)
		}
	}
}

// TestIsHere: a fork was made of a mission at turn 4, commit b; its work up to there is in HEAD, or is not.
func TestIsHere(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		here     record.ID
		inHead   string // commits, a letter each
		finished int    // up to which turn, in commit f
		adopted  int    // in commit a
		undone   bool
		want     bool
	}{
		{name: "nothing"},
		{name: "on its branch", here: "a1b2c3d4", want: true},
		{name: "on another one", here: "00000000"},
		{name: "merged", inHead: "b", want: true},
		{name: "finished", inHead: "f", finished: 4, want: true},
		{name: "finished further", inHead: "f", finished: 9, want: true},
		{name: "finished, and dropped", finished: 4},
		{name: "finished not so far", inHead: "f", finished: 3},
		{name: "its commits were taken", inHead: "a", adopted: 4, want: true},
		{name: "its commits were taken, and dropped", adopted: 4},
		{name: "its commits were taken not so far", inHead: "a", adopted: 3},
		{name: "its commits were taken, and that undone", inHead: "a", adopted: 4, undone: true},
		{name: "finished not so far, and taken", inHead: "fa", finished: 3, adopted: 4, want: true},
	} {
		m := &record.Mission{ID: "a1b2c3d4"}
		if tt.finished > 0 {
			m.Finished = &record.Finish{Turn: tt.finished, Commit: commitOf('f')}
		}
		if tt.adopted > 0 {
			m.Adopted = &record.Adoption{Turn: tt.adopted, Commit: commitOf('a'), Undone: tt.undone}
		}
		at := ForkPoint{Of: record.TurnID{Mission: m.ID, Turn: 4}, Commit: commitOf('b')}
		got := isHere(m, at, tt.here, func(c object.Hash) bool {
			return slices.ContainsFunc([]byte(tt.inHead), func(letter byte) bool { return commitOf(letter) == c })
		})
		if got != tt.want {
			t.Errorf("%s: %t, want %t", tt.name, got, tt.want)
		}
	}
}
