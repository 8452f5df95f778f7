package turns

import (
	"strings"
	"testing"

	"gitagent/internal/record"
	"gitagent/test/gittest"
)

// TestOutermost: missions are written as what they were forked from, and one that has a branch with
// a star: "b*<a/4" is a fork of a at turn 4. The first one is adopted.
func TestOutermost(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		missions string
		here     string // missions whose work is here
		want     string // the mission and the turn
	}{
		{"a fork of a mission that is no fork", "b*<a/4 a", "", "a/4"},
		{"of one with a branch that is no fork", "b*<a/4 a*", "", "a/4"},
		{"a fork of a fork", "c*<b/6 b*<a/4 a", "", "a/4"},
		{"a fork of a fork of a fork", "d*<c/7 c*<b/6 b*<a/4 a", "", "a/4"},
		{"in the worktree of the one that it is a fork of", "c*<b/6 b*<a/4 a", "b", "b/6"},
		{"the one in the middle is here", "d*<c/7 c*<b/6 b*<a/4 a", "b", "b/6"},
		{"the inner and the outer one are here", "d*<c/7 c*<b/6 b*<a/4 a", "ca", "c/7"},
		{"the one that it is a fork of is gone", "c*<b/6 a", "", "b/6"},
		{"one further out is gone", "d*<c/7 c*<b/6", "", "b/6"},
		{"of a fork without a branch", "c*<b/6 b<a/4 a", "", "b/6"},
		{"of one forked at a turn that nobody knows", "c*<b/6 b*<a/0 a", "", "b/6"},
		{"of one without a beginning", "c*<b/6 b!*<a/4 a", "", "b/6"},
		{"of itself", "b*<b/4", "", "b/4"},
		{"in a circle", "c*<b/6 b*<c/4", "", "b/6"},
		{"from a circle", "d*<c/7 c*<b/6 b*<c/4", "", "c/4"},
	} {
		sources := make(map[record.ID]*source)
		var first *record.Mission
		for word := range strings.FieldsSeq(tt.missions) {
			name, from, fork := strings.Cut(word, "<")
			m := &record.Mission{ID: record.ID(name[:1]), Base: commitOf(name[0]).String()}
			if strings.HasSuffix(name, "*") {
				m.Branch = "refs/heads/agent/mission/" + name[:1]
			}
			if strings.Contains(name, "!") {
				m.Base = ""
			}
			if fork {
				m.ForkedFrom = &record.TurnID{Mission: record.ID(from[:1]), Turn: int(from[2] - '0')}
			}
			sources[m.ID] = &source{m, strings.Contains(tt.here, name[:1])}
			if first == nil {
				first = m
			}
		}
		point, err := PointOf(first)
		gittest.Must(t, err)
		got, err := outermost(point, func(at ForkPoint) (ForkPoint, bool, error) {
			s := sources[at.Of.Mission]
			if s == nil {
				return at, false, nil
			}
			next, ok := s.further()
			return next, ok, nil
		})
		if err != nil || got.Of.String() != tt.want {
			t.Errorf("%s: %s begins at %s, %v; want %s", tt.name, tt.missions, got.Of, err, tt.want)
		}
	}
}
