package record

import (
	"reflect"
	"testing"

	"gitagent/internal/usage"
)

func TestSpend(t *testing.T) {
	of := func(n int64) Usage { return Usage{Models: usage.ByModel{"a": {Output: n}}} }
	type turn struct {
		number  int
		was, is Usage
	}
	for _, tt := range []struct {
		name    string
		forked  *TurnID
		turns   []turn
		want    Usage
		partial bool
	}{
		{
			name: "turns add up", turns: []turn{{1, Usage{}, of(1)}, {2, Usage{}, of(2)}},
			want: Usage{Since: 1, Models: usage.ByModel{"a": {Output: 3}}},
		},
		{
			name: "a turn that is recorded again replaces", turns: []turn{{1, Usage{}, of(1)}, {2, Usage{}, of(2)}, {1, of(1), of(5)}},
			want: Usage{Since: 1, Models: usage.ByModel{"a": {Output: 7}}},
		},
		{
			name: "a fork begins with its own turns", forked: &TurnID{Turn: 7}, turns: []turn{{8, Usage{}, of(1)}},
			want: Usage{Since: 8, Models: usage.ByModel{"a": {Output: 1}}},
		},
		{
			name: "one that begins before a turn has its own of that number", forked: &TurnID{Turn: 7}, turns: []turn{{7, Usage{}, of(1)}},
			want: Usage{Since: 7, Models: usage.ByModel{"a": {Output: 1}}},
		},
		{
			name: "an older program recorded the first ones, and one of them is recorded again", partial: true,
			turns: []turn{{8, Usage{}, of(1)}, {7, Usage{}, of(9)}},
			want:  Usage{Since: 8, Models: usage.ByModel{"a": {Output: 1}}},
		},
		{
			name: "nothing is known of the last one", turns: []turn{{1, Usage{}, Usage{}}},
			want: Usage{Since: 1},
		},
		{
			name: "sub-agents apart", turns: []turn{{1, Usage{}, Usage{Agents: usage.ByModel{"b": {Input: 4}}}}},
			want: Usage{Since: 1, Agents: usage.ByModel{"b": {Input: 4}}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := &Mission{ForkedFrom: tt.forked}
			for _, turn := range tt.turns {
				m.AddUsage(turn.number, turn.was, turn.is)
			}
			if !reflect.DeepEqual(*m.Spent, tt.want) {
				t.Errorf("spent %+v, want %+v", *m.Spent, tt.want)
			}
			if m.SpentAll() == tt.partial {
				t.Errorf("SpentAll = %v", m.SpentAll())
			}
		})
	}
}
