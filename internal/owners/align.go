package owners

import (
	"slices"
	"sort"
	"unicode/utf8"

	"github.com/sergi/go-diff/diffmatchpatch"
)

const (
	maxCells = 4_000_000   // lines times lines that are compared exactly
	maxWork  = 400_000_000 // of these in a turn; then only what is the same by count
	maxRunes = 20_000      // different lines in one comparison
)

// align maps each line of a text to a line of an older one, or -1: by a minimal
// diff, in parts if that is much work. A part that is too large to compare is
// new as a whole.
func (w *walk) align(old, fresh []int) []int {
	from := make([]int, len(fresh))
	for i := range from {
		from[i] = -1
	}
	w.part(old, fresh, 0, 0, from, true)
	return from
}

// part aligns parts of two texts, which begin at the lines i and j.
func (w *walk) part(old, fresh []int, i, j int, from []int, split bool) {
	for len(old) > 0 && len(fresh) > 0 && old[0] == fresh[0] {
		from[j] = i
		old, fresh, i, j = old[1:], fresh[1:], i+1, j+1
	}
	for len(old) > 0 && len(fresh) > 0 && old[len(old)-1] == fresh[len(fresh)-1] {
		old, fresh = old[:len(old)-1], fresh[:len(fresh)-1]
		from[j+len(fresh)] = i + len(old)
	}
	if len(old) == 0 || len(fresh) == 0 {
		return
	}
	// A line that the other text lacks can't be common to both.
	olds, news := w.among(old, fresh), w.among(fresh, old)
	if len(olds) == 0 {
		return
	}
	cells := len(olds) * len(news)
	if cells <= maxCells && len(olds)+len(news) <= maxRunes && w.work+cells <= maxWork {
		w.work += cells
		minimal(old, fresh, olds, news, func(a, b int) { from[j+b] = i + a })
		return
	}
	if !split {
		return
	}
	a, b := 0, 0
	for _, pair := range w.anchors(old, fresh) {
		if pair[0] > a || pair[1] > b {
			w.part(old[a:pair[0]], fresh[b:pair[1]], i+a, j+b, from, false)
		}
		from[j+pair[1]] = i + pair[0]
		a, b = pair[0]+1, pair[1]+1
	}
	w.part(old[a:], fresh[b:], i+a, j+b, from, false)
}

// among returns where the lines are that others has too.
func (w *walk) among(lines, others []int) (places []int) {
	known := w.byText(0)
	for _, id := range others {
		known[id] = 1
	}
	for i, id := range lines {
		if known[id] == 1 {
			places = append(places, i)
		}
	}
	for _, id := range others {
		known[id] = 0
	}
	return places
}

// byText returns a number for each text, which are 0 and must be again.
func (w *walk) byText(n int) []int32 {
	if less := len(w.texts.texts) - len(w.numbers[n]); less > 0 {
		w.numbers[n] = append(w.numbers[n], make([]int32, less)...)
	}
	return w.numbers[n]
}

// minimal calls same for each pair of a minimal diff of the lines at two lists
// of places.
func minimal(old, fresh, olds, news []int, same func(a, b int)) {
	ids := make(map[int]rune)
	runes := func(lines, at []int) []rune {
		list := make([]rune, len(at))
		for k, i := range at {
			id, ok := ids[lines[i]]
			if !ok {
				id = rune(0x4e00 + len(ids)) // a range without gaps, larger than maxRunes
				ids[lines[i]] = id
			}
			list[k] = id
		}
		return list
	}
	d := diffmatchpatch.New()
	d.DiffTimeout = 0 // minimal, however long it takes
	i, j := 0, 0
	for _, part := range d.DiffMainRunes(runes(old, olds), runes(fresh, news), false) {
		n := utf8.RuneCountInString(part.Text)
		if part.Type == diffmatchpatch.DiffEqual {
			for k := range n {
				same(olds[i+k], news[j+k])
			}
		}
		if part.Type != diffmatchpatch.DiffInsert {
			i += n
		}
		if part.Type != diffmatchpatch.DiffDelete {
			j += n
		}
	}
}

// anchors pairs lines that both texts have equally often, the first with the
// first, as many as stay in order.
func (w *walk) anchors(old, fresh []int) [][2]int {
	more, first := w.byText(0), w.byText(1) // how many more are in old; the first there, from 1
	next := make([]int32, len(old))
	for i, id := range slices.Backward(old) {
		more[id]++
		next[i], first[id] = first[id], int32(i+1)
	}
	for _, id := range fresh {
		more[id]--
	}
	pairs := make([][2]int, 0, min(len(old), len(fresh)))
	var ends, chain []int              // of the best chain of each length: where, and its last pair
	back := make([]int, 0, cap(pairs)) // the pair before each
	for j, id := range fresh {
		if more[id] != 0 || first[id] == 0 {
			continue
		}
		i := int(first[id] - 1)
		first[id] = next[i]
		n := sort.Search(len(ends), func(k int) bool { return ends[k] >= i })
		if n == len(ends) {
			ends, chain = append(ends, 0), append(chain, 0)
		}
		ends[n], chain[n] = i, len(pairs)
		last := -1
		if n > 0 {
			last = chain[n-1]
		}
		back = append(back, last)
		pairs = append(pairs, [2]int{i, j})
	}
	for _, lines := range [][]int{old, fresh} {
		for _, id := range lines {
			more[id], first[id] = 0, 0
		}
	}
	list := make([][2]int, len(chain))
	if len(chain) > 0 {
		for n, k := len(chain)-1, chain[len(chain)-1]; n >= 0; n, k = n-1, back[k] {
			list[n] = pairs[k]
		}
	}
	return list
}
