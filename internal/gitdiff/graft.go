package gitdiff

import (
	"bytes"
	"slices"
)

// Graft applies the change of lines from one text to another to a third, from
// which the first was made: ours becomes what it would be with that change and
// without what else was done. Unlike a merge it has no context: lines next to
// each other do not conflict. ok is false if the change removes lines that ours
// lacks, or if the texts are too large to compare.
func Graft(ours, from, to []byte) (made []byte, ok bool) {
	in, ok := Align(ours, from)
	if !ok {
		return nil, false
	}
	back, ok := Align(from, to)
	if !ok {
		return nil, false
	}
	stays := make([]bool, len(in))
	for _, at := range back {
		if at >= 0 {
			stays[at] = true
		}
	}
	for at, was := range in {
		if !stays[at] && was < 0 {
			return nil, false
		}
	}
	lines, news := slices.Collect(bytes.Lines(ours)), slices.Collect(bytes.Lines(to))
	next, old := 0, 0 // the next of our lines, and of those that were changed
	pass := func(until int) {
		for ; old < until; old++ {
			was := in[old]
			if was < 0 {
				continue
			}
			made = append(made, bytes.Join(lines[next:was], nil)...)
			if next = was + 1; stays[old] {
				made = append(made, lines[was]...)
			}
		}
	}
	for i, at := range back {
		if at < 0 {
			made = append(made, news[i]...)
		} else {
			pass(at + 1)
		}
	}
	pass(len(in))
	return append(made, bytes.Join(lines[next:], nil)...), true
}
