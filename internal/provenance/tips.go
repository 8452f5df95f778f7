package provenance

import (
	"slices"
)

// contents say which lines there are in each commit of a graph. Lines are numbers; equal lines have one.
type contents struct {
	of    []int     // by place: which version the commit has
	lines [][]int32 // by version: its lines, in order, each once
	words int       // how many lines there are in all
	new   [][]int32 // by place: the lines that none of its parents has; nil before they are known
}

// maxTips is how many states one commit is taken to be made from. Nine were the most in trials.
const maxTips = 100

// tips finds, for each commit that has what none of its parents has, where it took that from: the newest
// state before it that has the very same; otherwise the newest commit before it that has one of the lines
// that are new in it, then for what that does not have the newest one again, and so on. The commits are in an
// order in which parents come first; of each it is known whether it was made for a state. Nothing is taken from a
// commit that is apart from the one that would take it.
func tips(parents [][]int, states []bool, apart func(at, tip int) bool, c *contents) [][]int {
	fresh := c.allFresh(parents)
	wanted := make([]int32, c.words) // in how many commits a line is new
	for at := range parents {
		for _, line := range fresh[at] {
			wanted[line]++
		}
	}
	holders := c.holders(parents, wanted)
	found := make([][]int, len(parents))
	last := make(map[int]int) // by version: the newest state so far that has it
	for at, left := range fresh {
		version := c.of[at]
		state, same := last[version]
		if states[at] {
			last[version] = at
		}
		if same && len(c.lines[version]) > 0 && !apart(at, state) && !slices.ContainsFunc(parents[at], func(p int) bool { return c.of[p] == version }) {
			found[at] = []int{state}
			continue
		}
		left = slices.DeleteFunc(slices.Clone(left), func(line int32) bool { return holders.of[line] == nil })
		for len(left) > 0 && len(found[at]) < maxTips {
			tip := -1
			for _, line := range left {
				tip = max(tip, holders.newest(line, at, tip, apart))
			}
			if tip < 0 {
				break
			}
			has := c.lines[c.of[tip]]
			left = slices.DeleteFunc(left, func(line int32) bool {
				_, ok := slices.BinarySearch(has, line)
				return ok || holders.newest(line, at, -1, apart) < 0
			})
			found[at] = append(found[at], tip)
		}
	}
	return found
}

// allFresh are the lines of each commit that none of its parents has, see [contents.fresh].
func (c *contents) allFresh(parents [][]int) [][]int32 {
	if c.new == nil {
		c.new = make([][]int32, len(parents))
		for at := range parents {
			c.new[at] = c.fresh(at, parents[at])
		}
	}
	return c.new
}

// fresh are the lines of a commit that none of its parents has; none if it has the same as one of them. What
// a commit without parents has is fresh, but not what one has where the graph ends.
func (c *contents) fresh(at int, parents []int) []int32 {
	if parents == nil {
		return nil
	}
	for _, p := range parents {
		if c.of[p] == c.of[at] {
			return nil
		}
	}
	lines := c.lines[c.of[at]]
	for i, p := range parents {
		lines = without(lines, c.lines[c.of[p]], i > 0)
	}
	return lines
}

// without are the numbers of one list that another one lacks, both in order. The first list is written over
// if that is allowed.
func without(list, other []int32, over bool) (rest []int32) {
	if over {
		rest = list[:0]
	}
	i := 0
	for _, n := range list {
		for i < len(other) && other[i] < n {
			i++
		}
		if i == len(other) || other[i] != n {
			rest = append(rest, n)
		}
	}
	return rest
}

// holders say which commits have the lines that may have been taken from somewhere.
type holders struct {
	of     [][]int // by line: the versions that have it
	places [][]int // by version: the commits that have it, in order
}

// holders finds them. A line that is new in a single commit, and not there where the graph ends, was taken
// from nowhere.
func (c *contents) holders(parents [][]int, wanted []int32) holders {
	h := holders{of: make([][]int, c.words), places: make([][]int, len(c.lines))}
	ends := make([]bool, len(c.lines))
	for at, version := range c.of {
		h.places[version] = append(h.places[version], at)
		ends[version] = ends[version] || parents[at] == nil
	}
	for version, lines := range c.lines {
		for _, line := range lines {
			if wanted[line] > 0 && ends[version] {
				wanted[line]++
			}
		}
	}
	for version, lines := range c.lines {
		for _, line := range lines {
			if wanted[line] > 1 {
				h.of[line] = append(h.of[line], version)
			}
		}
	}
	return h
}

// newest is the newest commit before a place, and not apart from it, that has a line, -1 if there is none. Those
// up to another place are not looked at.
func (h holders) newest(line int32, before, after int, apart func(at, tip int) bool) int {
	best := -1
	for _, version := range h.of[line] {
		places := h.places[version]
		if places[0] >= before || places[len(places)-1] <= after {
			continue
		}
		i, _ := slices.BinarySearch(places, before)
		for i > 0 && places[i-1] > max(best, after) && apart(before, places[i-1]) {
			i--
		}
		if i > 0 && places[i-1] > max(best, after) {
			best = places[i-1]
		}
	}
	return best
}
