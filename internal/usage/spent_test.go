package usage

import (
	"fmt"
	"maps"
	"math"
	"testing"
)

func TestPlusAndMinus(t *testing.T) {
	for _, tt := range []struct {
		name        string
		a, b        ByModel
		plus, minus ByModel
	}{
		{name: "nothing"},
		{
			name: "one model",
			a:    ByModel{"x": {Input: 5, CacheRead: 4, CacheWrite: 3, Output: 2}}, b: ByModel{"x": {Input: 1, CacheRead: 1, CacheWrite: 1, Output: 1}},
			plus: ByModel{"x": {Input: 6, CacheRead: 5, CacheWrite: 4, Output: 3}}, minus: ByModel{"x": {Input: 4, CacheRead: 3, CacheWrite: 2, Output: 1}},
		},
		{
			name: "another model", a: ByModel{"x": {Input: 5}}, b: ByModel{"y": {Output: 1}},
			plus: ByModel{"x": {Input: 5}, "y": {Output: 1}}, minus: ByModel{"x": {Input: 5}},
		},
		{name: "what was counted is taken away", a: ByModel{"x": {Input: 5}}, b: ByModel{"x": {Input: 5}}, plus: ByModel{"x": {Input: 10}}},
		{
			name: "a stranger's", a: ByModel{"x": {Input: math.MaxInt64, Output: -7}}, b: ByModel{"x": {Input: math.MaxInt64, Output: math.MinInt64}},
			plus: ByModel{"x": {Input: math.MaxInt64}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := maps.Clone(tt.a)
			if got := tt.a.Plus(tt.b); !maps.Equal(got, tt.plus) {
				t.Errorf("Plus = %v, want %v", got, tt.plus)
			}
			if got := tt.a.Minus(tt.b); !maps.Equal(got, tt.minus) {
				t.Errorf("Minus = %v, want %v", got, tt.minus)
			}
			if !maps.Equal(a, tt.a) {
				t.Errorf("the first operand became %v", tt.a)
			}
		})
	}
}

func TestMost(t *testing.T) {
	all := make(ByModel)
	for i := range 20 {
		all[fmt.Sprintf("m%02d", i)] = Tokens{Output: int64(i)}
	}
	kept := all.Most(4)
	want := ByModel{"m19": {Output: 19}, "m18": {Output: 18}, "m17": {Output: 17}, Others: {Output: 16 * 17 / 2}}
	if !maps.Equal(kept, want) {
		t.Errorf("Most(4) = %v, want %v", kept, want)
	}
	if kept.Sum() != all.Sum() {
		t.Errorf("the sum became %v, want %v", kept.Sum(), all.Sum())
	}
	if got := all.Most(20); len(got) != 20 {
		t.Errorf("Most(20) keeps %d of 20", len(got))
	}
}
