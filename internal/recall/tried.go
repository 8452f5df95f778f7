package recall

import (
	"bytes"
	"slices"

	"gitagent/internal/git/object"
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

// outlive leaves [Failed] to those of a file's steps, in order of time, of which
// nothing was left in their mission when tests passed again, or at its end: what
// they passed with has not failed.
func (p *Past) outlive(steps []step) {
	for i := range steps {
		s := &steps[i]
		if s.given != Failed {
			continue
		}
		now := s.New
		for _, later := range steps[i+1:] {
			if later.in == s.in && (s.until.IsZero() || !later.at.After(s.until)) {
				now = later.New
			}
		}
		if now == s.New || !p.gone(s, now) {
			s.given = ""
		}
	}
}

// gone reports whether a version of a file has none of the lines that a step
// added; false if that can't be told.
func (p *Past) gone(s *step, now object.Hash) bool {
	var texts [3][]byte
	for i, version := range []object.Hash{s.Old, s.New, now} {
		if version.IsZero() {
			continue
		}
		text, err := p.objects.Blob(version, maxFile)
		if err != nil {
			return false
		}
		texts[i] = text
	}
	return noneLeft(texts[0], texts[1], texts[2])
}

// noneLeft reports whether lines were added from one text to the next that tell
// something, and a third has none of them.
func noneLeft(old, made, now []byte) bool {
	was, is := make(map[string]bool), make(map[string]bool)
	for text, lines := range map[*[]byte]map[string]bool{&old: was, &now: is} {
		for line := range bytes.Lines(*text) {
			lines[string(line)] = true
		}
	}
	added := false
	for line := range bytes.Lines(made) {
		if !was[string(line)] && letters(string(line)) >= long {
			if is[string(line)] {
				return false
			}
			added = true
		}
	}
	return added
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
	today := newMapping(there, len(slices.Collect(bytes.Lines(old))))
	var found []Lines
	hunk := func(behind, until int) { // the lines of old around it
		first, last := today.at(behind)+1, today.at(until)-1
		found = append(found, Lines{min(first, max(last, 1)), max(first, last)})
	}
	before, fresh := -1, false
	for _, was := range append(from, today.count) {
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

// A mapping says where the lines of an older text are in a newer one.
type mapping struct {
	count int         // lines of the older one
	known map[int]int // from 0, to places from 1; with those before the first and behind the last
}

func newMapping(from []int, count int) mapping {
	m := mapping{count, map[int]int{-1: 0, count: len(from) + 1}}
	for i, was := range from {
		if was >= 0 {
			m.known[was] = i + 1
		}
	}
	return m
}

// at returns where a line is, or if it is gone, where it would be by the nearest
// line that is left, and between those that are left.
func (m mapping) at(line int) int {
	if place, left := m.known[line]; left {
		return place
	}
	above, below := line-1, line+1
	for ; ; above-- {
		if _, left := m.known[above]; left {
			break
		}
	}
	for ; ; below++ {
		if _, left := m.known[below]; left {
			break
		}
	}
	if line-above <= below-line {
		return min(m.known[above]+line-above, m.known[below])
	}
	return max(m.known[below]-(below-line), m.known[above])
}
