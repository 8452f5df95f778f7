package record

import (
	"reflect"
	"testing"

	"gitagent/internal/spent"
)

func TestSpend(t *testing.T) {
	of := func(n int64) Spent { return Spent{Models: spent.ByModel{"a": {Output: n}}} }
	type turn struct {
		number  int
		was, is Spent
	}
	for _, tt := range []struct {
		name    string
		forked  *TurnID
		turns   []turn
		want    Spent
		partial bool
	}{
		{
			name: "turns add up", turns: []turn{{1, Spent{}, of(1)}, {2, Spent{}, of(2)}},
			want: Spent{Since: 1, Models: spent.ByModel{"a": {Output: 3}}},
		},
		{
			name: "a turn that is recorded again replaces", turns: []turn{{1, Spent{}, of(1)}, {2, Spent{}, of(2)}, {1, of(1), of(5)}},
			want: Spent{Since: 1, Models: spent.ByModel{"a": {Output: 7}}},
		},
		{
			name: "a fork begins with its own turns", forked: &TurnID{Turn: 7}, turns: []turn{{8, Spent{}, of(1)}},
			want: Spent{Since: 8, Models: spent.ByModel{"a": {Output: 1}}},
		},
		{
			name: "one that begins before a turn has its own of that number", forked: &TurnID{Turn: 7}, turns: []turn{{7, Spent{}, of(1)}},
			want: Spent{Since: 7, Models: spent.ByModel{"a": {Output: 1}}},
		},
		{
			name: "an older program recorded the first ones, and one of them is recorded again", partial: true,
			turns: []turn{{8, Spent{}, of(1)}, {7, Spent{}, of(9)}},
			want:  Spent{Since: 8, Models: spent.ByModel{"a": {Output: 1}}},
		},
		{
			name: "nothing is known of the last one", turns: []turn{{1, Spent{}, Spent{}}},
			want: Spent{Since: 1},
		},
		{
			name: "sub-agents apart", turns: []turn{{1, Spent{}, Spent{Agents: spent.ByModel{"b": {Input: 4}}}}},
			want: Spent{Since: 1, Agents: spent.ByModel{"b": {Input: 4}}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := &Mission{ForkedFrom: tt.forked}
			for _, turn := range tt.turns {
				m.Spend(turn.number, turn.was, turn.is)
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
