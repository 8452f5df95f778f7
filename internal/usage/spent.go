// Package usage counts the tokens that models read and wrote. What is untrusted
// may be negative, or near the end of the numbers: below zero
// counts as nothing, and no sum overflows.
package usage

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// Tokens are what a model read and wrote. Together, the first three are what it
// was sent.
type Tokens struct {
	Input      int64 `json:"input,omitempty"`       // neither read from a cache nor written to one
	CacheRead  int64 `json:"cache_read,omitempty"`  //
	CacheWrite int64 `json:"cache_write,omitempty"` //
	Output     int64 `json:"output,omitempty"`      // with what it thought
}

// Sent is all that the model was sent.
func (t Tokens) Sent() int64 { return plus(plus(t.Input, t.CacheRead), t.CacheWrite) }

// Total is all that the model was sent and wrote.
func (t Tokens) Total() int64 { return plus(t.Sent(), t.Output) }

// Plus adds two of them.
func (t Tokens) Plus(u Tokens) Tokens { return t.each(u, plus) }

// Minus takes away what was counted before.
func (t Tokens) Minus(u Tokens) Tokens {
	return t.each(u, func(a, b int64) int64 { return max(0, max(0, a)-max(0, b)) })
}

func (t Tokens) each(u Tokens, f func(a, b int64) int64) Tokens {
	return Tokens{f(t.Input, u.Input), f(t.CacheRead, u.CacheRead), f(t.CacheWrite, u.CacheWrite), f(t.Output, u.Output)}
}

func plus(a, b int64) int64 {
	a, b = max(0, a), max(0, b)
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// ByModel are counts by the name of the model.
type ByModel map[string]Tokens

// Sum is the count of all models.
func (m ByModel) Sum() Tokens {
	var all Tokens
	for _, c := range m {
		all = all.Plus(c)
	}
	return all
}

// Plus adds the counts of each model; nil if there are none.
func (m ByModel) Plus(n ByModel) ByModel { return m.each(n, Tokens.Plus) }

// Minus takes away what was counted before.
func (m ByModel) Minus(n ByModel) ByModel { return m.each(n, Tokens.Minus) }

func (m ByModel) each(n ByModel, f func(t, u Tokens) Tokens) ByModel {
	all := maps.Clone(m)
	for model, c := range n {
		if all == nil {
			all = make(ByModel)
		}
		all[model] = f(all[model], c)
	}
	maps.DeleteFunc(all, func(_ string, t Tokens) bool { return t == Tokens{} })
	if len(all) == 0 {
		return nil
	}
	return all
}

// Others is what models are called together that are more than [ByModel.Most]
// keeps.
const Others = "others"

// Most keeps so many names: those with the most tokens, and [Others] for the
// rest.
func (m ByModel) Most(n int) ByModel {
	if len(m) <= n {
		return m
	}
	kept := make(ByModel)
	for i, model := range m.Models() {
		if i >= n-1 {
			kept[Others] = kept[Others].Plus(m[model])
		} else {
			kept[model] = kept[model].Plus(m[model])
		}
	}
	return kept
}

// Models are the names, the one with the most tokens first.
func (m ByModel) Models() []string {
	return slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		return cmp.Or(cmp.Compare(m[b].Total(), m[a].Total()), cmp.Compare(a, b))
	})
}
