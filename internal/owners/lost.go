package owners

import (
	"maps"
	"slices"

	"gitagent/internal/git/object"
)

// worth is how many own lines are worth keeping a state for.
const worth = 3

// lost returns the states with own work, surely or not, that is gone in the
// next state and at the end: lines with a letter or digit, or a whole file.
func (w *walk) lost() []int {
	lines, contents := make(map[int]bool), make(map[object.Hash]bool) // at the end
	for _, f := range w.files {
		contents[f.entry().Hash] = true
		for _, l := range f.weave {
			if l.alive() {
				lines[l.text] = true
			}
		}
	}
	gone := make(map[int]int) // by state, how many lines
	for _, f := range w.files {
		in := make(map[int]int) // by version in which they are gone
		for _, l := range f.weave {
			if l.by < unsure || lines[l.text] || !w.texts.counts[l.text] {
				continue
			}
			for i := 1; i < len(l.lives); i += 2 {
				in[int(l.lives[i])]++
			}
		}
		for i, v := range f.versions[1:] {
			n := in[i+1]
			was := f.versions[i]
			if f.whole && was.by >= unsure && !contents[was.entry.Hash] || n > 0 && v.entry.Mode == 0 {
				n = worth
			}
			gone[v.state-1] += n
		}
	}
	maps.DeleteFunc(gone, func(state, n int) bool { return state < 0 || n < worth })
	return slices.Sorted(maps.Keys(gone))
}
