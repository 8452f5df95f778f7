package recall

import (
	"bytes"
	"slices"

	"gitagent/internal/gitdiff"
)

// Lines are those from First to Last, counted from 1; the zero Lines are all.
type Lines struct{ First, Last int }

// beside is how far from a line a change may be that is about it.
const beside = 1

// tried returns what was given up in a file where the lines are, the newest
// first. now is the file as it is.
func (p *Past) tried(path string, lines Lines, now []byte) []given {
	up, _ := judge(p.files[path])
	slices.Reverse(up)
	return slices.DeleteFunc(up, func(g given) bool { return !p.about(g, lines, now) })
}

// maxFile is the most bytes of a file whose lines are looked for.
const maxFile = 4 << 20

// about reports whether a change was made where the lines are now; also if that
// can't be told.
func (p *Past) about(g given, lines Lines, now []byte) bool {
	if lines == (Lines{}) {
		return true
	}
	var old, made []byte
	var err error
	if !g.Old.IsZero() {
		old, err = p.objects.Blob(g.Old, maxFile)
	}
	if err == nil && !g.New.IsZero() {
		made, err = p.objects.Blob(g.New, maxFile)
	}
	if err != nil || len(now) > maxFile {
		return true
	}
	for _, place := range places(old, made, now) {
		if place.First <= lines.Last+beside && lines.First-beside <= place.Last {
			return true
		}
	}
	return false
}

// places returns where in a text those lines are, or would be, that differ
// between two other texts; all lines if that is too much to find out.
func places(old, made, now []byte) []Lines {
	all := []Lines{{1, max(1, bytes.Count(now, []byte("\n")))}}
	from, ok := gitdiff.Align(old, made)
	there, also := gitdiff.Align(old, now)
	if !ok || !also {
		return all
	}
	at := make(map[int]int) // of old's lines: where they are now
	for i, was := range there {
		if was >= 0 {
			at[was] = i + 1
		}
	}
	count := len(slices.Collect(bytes.Lines(old)))
	// The hunks, as ranges of old's lines that go, from the one behind which they begin.
	var found []Lines
	hunk := func(behind, until int) {
		first, last := 1, len(there)
		for i := behind; i >= 0; i-- {
			if n, is := at[i]; is {
				first = n + 1
				break
			}
		}
		for i := until; i < count; i++ {
			if n, is := at[i]; is {
				last = n - 1
				break
			}
		}
		found = append(found, Lines{min(first, max(last, 1)), max(first, last)})
	}
	before, fresh := -1, false
	for _, was := range append(from, count) {
		if was < 0 {
			fresh = true
			continue
		}
		if fresh || was > before+1 {
			hunk(before, was)
		}
		before, fresh = was, false
	}
	return found
}
