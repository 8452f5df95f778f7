package owners

import (
	"maps"
	"slices"

	"gitagent/internal/git/object"
)

// worth is how many lines are worth keeping a state for.
const worth = 3

// lost returns the states with work that is gone in the next state and at the
// end: lines with a letter or digit, or a whole file. It is the turn's, surely
// or not, or others' that they did meanwhile and the turn destroyed.
func (w *walk) lost() []Loss {
	lines, contents := make(map[int]bool), make(map[object.Hash]bool) // at the end
	for _, f := range w.files {
		contents[f.entry().Hash] = true
		for _, l := range f.weave {
			if l.alive() {
				lines[l.text] = true
			}
		}
	}
	gone, paths := make(map[int]int), make(map[int][]string) // by state, how many lines, and of which files
	for path, f := range w.files {
		in := make(map[int]int) // by version in which they are gone
		for _, l := range f.weave {
			if lines[l.text] || !w.texts.counts[l.text] {
				continue
			}
			for i := 1; i < len(l.lives); i += 2 {
				if n := int(l.lives[i]); concerns(l.by, f.versions[n].by) {
					in[n]++
				}
			}
		}
		for i, v := range f.versions[1:] {
			n := in[i+1]
			was := f.versions[i]
			if f.whole && concerns(was.by, v.by) && !contents[was.entry.Hash] || n > 0 && v.entry.Mode == 0 {
				n = worth
			}
			if n > 0 {
				gone[v.state-1] += n
				paths[v.state-1] = append(paths[v.state-1], path)
			}
		}
	}
	maps.DeleteFunc(gone, func(state, n int) bool { return state < 0 || n < worth })
	var list []Loss
	for _, state := range slices.Sorted(maps.Keys(gone)) {
		slices.Sort(paths[state])
		list = append(list, Loss{state, paths[state]})
	}
	return list
}

// concerns reports whether a turn is concerned by something that somebody made
// in it and somebody removed.
func concerns(by, removed label) bool { return by >= unsure || by == others && removed >= unsure }
